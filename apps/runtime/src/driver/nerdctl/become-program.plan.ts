import { staticProgram, type MachineCode } from './elf-program.plan.js';

const CODE: MachineCode = {
  x64: [
    '488b1c24 4c8d6c2410 4c8d64dc10', //               argc, argv from 1 on, envp
    'e8e3010000 4189c6 e8db010000 4189c7', //          the user, the group
    'e8d3010000 4889c3', //                            the capabilities to keep
    '4881ec00000800 31ed', //                          room on the stack; capability 0
    '480fa3eb 721b', //                                bound: next if it is kept
    'bf18000000 89ee b89d000000 0f05', //              prctl(PR_CAPBSET_DROP, capability)
    '85c0 7409 83f8ea 0f85cd010000', //                fail if it cannot, unless the kernel does not know it
    'ffc5 83fd40 72d8 31db', //                        next: bound for the 64 of them; no groups yet
    '498b7500 4885f6 0f84b7010000', //                 groups: the next argument; fail if there is none
    '66813e2d2d 740c', //                              ids if it begins with "--"
    'e884010000 89049c ffc3 ebe0', //                  another group; groups
    '4983c508 89df 4889e6 b874000000 0f05', //         ids: setgroups(count, groups)
    '85c0 0f858c010000', //                            fail if it cannot
    '4489ff 89fe 89fa b877000000 0f05', //             setresgid(group, group, group)
    '85c0 0f8576010000',
    '4489f7 89fe 89fa b875000000 0f05', //             setresuid(user, user, user)
    '85c0 0f8560010000',
    '4889e5 48c7c022050820 48894500', //               version 3 of capability sets, this process
    '4889ef 488d7508 b87d000000 0f05', //              capget
    '85c0 0f853c010000',
    '894510 89451c', //                                the inheritable set is empty
    '4889ef 488d7508 b87e000000 0f05', //              capset
    '85c0 0f8520010000',
    '31d2 4531d2 4531c0 bf2f000000 be04000000', //     prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    'b89d000000 0f05 85c0 0f85ff000000',
    'bf26000000 be01000000 b89d000000 0f05', //        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    '85c0 0f85e6000000',
    '498b5d00 4885db 0f84d9000000 4889df', //          the command; fail if there is none
    '8a07 48ffc7 3c2f 7463 84c0 75f3', //              slash: direct if there is one in its name
    '4d89e6 498b36 4983c608 4885f6 7448', //           env: the next variable; absent if there is none
    '813e50415448 75ec 807e043d 75e6', //              env until it begins with "PATH="
    '4883c605 4889ef', //                              folder: the next one of PATH
    'ac 84c0 7407 3c3a 7403 aa ebf4', //               its characters up to a colon or the end
    '4989f6 4188c7 4839ef 7403 b02f aa', //            a slash, unless it is empty
    '4889de ac aa 84c0 75fa', //                       the command
    '4889ef e845000000', //                            exec
    '4c89f6 4584ff 75ca', //                           folder if there is another
    '41be7f000000 eb0e', //                            absent: say with 127
    '4889df e82d000000 41be7e000000', //               direct: exec; say with 126
    '4889de 803b00 488d5b01 75f7 c643ff0a', //         say: the command and a line feed
    '4889da 4829f2 bf02000000 b801000000 0f05', //     write(2, it, its length)
    '4489f7 eb52', //                                  exit of the failure that follows
    '4c89ee 4c89e2 b83b000000 0f05 c3', //             exec: execve(path, arguments from the command on, envp)
    '498b7500 4885f6 741e 4983c508 31c0', //           number: the next argument; fail if there is none
    '0fb616 83ea30 83fa09 770c', //                    its next character, while it is a digit
    '486bc00a 4801d0 48ffc6 ebe9 c3', //               ten times the number before, plus the digit
  ],
  arm64: [
    'e90340f9 f3430091 740e098b', //                   argc, argv from 1 on, envp
    '86000094 f503002a 84000094 f603002a', //          the user, the group
    '82000094 f70300aa', //                            the capabilities to keep
    'ff0342d1 180080d2', //                            room on the stack; capability 0
    'e926d89a 09010037', //                            bound: next if it is kept
    '000380d2 e10318aa e81480d2 010000d4', //          prctl(PR_CAPBSET_DROP, capability)
    '60000034 1f580031 41100054', //                   fail if it cannot, unless the kernel does not know it
    '18070091 1f0301f1 a3feff54 f8030091', //          next: bound for the 64 of them; no groups yet
    '610240f9 810f00b4', //                            groups: the next argument; fail if there is none
    '29004079 aaa58552 3f010a6b 80000054', //          ids if it begins with "--"
    '6b000094 004700b8 f8ffff17', //                   another group; groups
    '73220091 e1030091 000301cb 00fc42d3', //          ids: their number
    'e81380d2 010000d4 c00d0035', //                   setgroups(count, groups); fail if it cannot
    'e003162a e103162a e203162a', //                   setresgid(group, group, group)
    'a81280d2 010000d4 000d0035',
    'e003152a e103152a e203152a', //                   setresuid(user, user, user)
    '681280d2 010000d4 400c0035',
    '49a480d2 0901a4f2 e90300f9', //                   version 3 of capability sets, this process
    'e0030091 e1230091 480b80d2 010000d4 400b0035', // capget
    'ff1300b9 ff1f00b9', //                            the inheritable set is empty
    'e0030091 e1230091 680b80d2 010000d4 600a0035', // capset
    'e00580d2 810080d2 020080d2 030080d2 040080d2', // prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    'e81480d2 010000d4 60090035',
    'c00480d2 210080d2 010000d4 e0080035', //          prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    '770240f9 b70800b4 e00317aa', //                   the command; fail if there is none
    '09144038 3fbd0071 40040054 a9ffff35', //          slash: direct if there is one in its name
    'ea0314aa 558540f8 950300b4', //                   env: the next variable; absent if there is none
    'a94640b8 0b2a8852 8b0aa972 3f010b6b 41ffff54', // env until it begins with "PATH="
    'a9164038 3ff50071 e1feff54',
    'e0030091', //                                     folder: the next one of PATH
    'b6164038 b6000034 dfea0071 60000054', //          its characters up to a colon or the end
    '16140038 fbffff17',
    'e9030091 1f0009eb 60000054 e9058052 09140038', // a slash, unless it is empty
    'ea0317aa 49154038 09140038 c9ffff35', //          the command
    'e0030091 12000094', //                            exec
    'd6fdff35', //                                     folder if there is another
    'f80f8052 04000014', //                            absent: say with 127
    'e00317aa 0d000094 d80f8052', //                   direct: exec; say with 126
    'e10317aa e9164038 e9ffff35 49018052 e9f21f38', // say: the command and a line feed
    'e20201cb 400080d2 080880d2 010000d4', //          write(2, it, its length)
    'e003182a 18000014', //                            exit of the failure that follows
    'e10313aa e20314aa a81b80d2 010000d4 c0035fd6', // exec: execve(path, arguments from the command on, envp)
    '610240f9 610100b4 73220091 000080d2', //          number: the next argument; fail if there is none
    '29144038 29c10051 3f250071 88000054', //          its next character, while it is a digit
    '4a0180d2 00240a9b faffff17 c0035fd6', //          ten times the number before, plus the digit
  ],
};

/**
 * A program that is called with the numbers of a user and a group, a bit mask of capabilities, the numbers of other
 * groups, `--` and a command. It becomes that user with no other capability in any set, also for what it executes, and
 * without new privileges; then it becomes the command, looked for as a shell does. It starts nothing if it cannot.
 *
 * It runs with the rights of the guest in an image of strangers, so it opens no file. Programs with a C library do:
 * `setpriv` asks for users by the modules that the image's `/etc/nsswitch.conf` names, and takes a number for a name of
 * its `/etc/passwd`. `processor`: as `process.arch`. Throws for an unknown one.
 */
export const becomeProgram = (processor: string): Buffer => staticProgram('become', CODE, processor);
