import { staticProgram, type MachineCode } from './elf-program.plan.js';

const CODE: MachineCode = {
  x64: [
    '488b1c24 488d6c2408 4c8d64dd08', //           argc, argv, envp
    '4883c508 488b7d00 4885ff7452', //             next: the next argument; fail if there is none
    '66813f2d2d 7436', //                          run if it begins with "--"
    'be01000000 b802000000 0f05 85c0783b', //      open(argument, O_WRONLY); fail if it cannot
    '89c3 89df 6a30 4889e6 ba01000000', //         write(file, "0", 1)
    'b801000000 0f05 59 83f801 7520', //           fail if it cannot
    '89df b803000000 0f05 ebb6', //                close(file); next
    '4883c508 488b7d00 4889ee 4c89e2', //          run: the argument after "--"
    'b83b000000 0f05', //                          execve(argument, arguments from it on, envp)
  ],
  arm64: [
    'f30340f9 f4230091 950e138b b5220091', //      argc, argv, envp
    '818e40f8 a10300b4', //                        next: the next argument; fail if there is none
    '22004079 a3a58552 5f00036b 80020054', //      run if it begins with "--"
    '600c8092 220080d2 080780d2 010000d4', //      openat(AT_FDCWD, argument, O_WRONLY)
    '8002f8b7', //                                 fail if it cannot
    'f60300aa 02068052 e20f1ff8 e1030091', //      write(file, "0", 1)
    '220080d2 080880d2 010000d4 ff430091',
    '1f0400f1 41010054', //                        fail if it cannot
    'e00316aa 280780d2 010000d4 e8ffff17', //      close(file); next
    '808e40f8 e10314aa e20315aa', //               run: the argument after "--"
    'a81b80d2 010000d4', //                        execve(argument, arguments from it on, envp)
  ],
};

/**
 * A program that is called with files, `--` and a command: it writes `0` to each file and becomes the command, which it
 * does not start if it cannot. It is its own because every shell changes the environment that it passes on (it sets `PWD`
 * and drops names such as `a.b`), and the loader of any other program obeys `LD_PRELOAD`. `processor`: as
 * `process.arch`. Throws for an unknown one.
 */
export const joinProgram = (processor: string): Buffer => staticProgram('join', CODE, processor);
