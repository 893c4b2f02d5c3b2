import { staticProgram, type MachineCode } from './elf-program.plan.js';

const CODE: MachineCode = {
  x64: [
    '833c2405 7c6b 488d6c2410', //                     argc; fail if it is below 5; argv from 1 on
    '488b7500 66813e2d6d 755b', //                     fail unless argument 1 begins with "-m"
    '488b7510 66813e2d2d 7550', //                     fail unless argument 3 begins with "--"
    '31ff b85f000000 0f05', //                         umask(0)
    '488b7508 31db', //                                argument 2, the mode
    '0fb606 48ffc6 83e830 7805 8d1cd8 ebf0', //        its octal digits
    '81cb00100000 4883c518', //                        S_IFIFO; argv from 4 on
    '488b7d00 4883c508 4885ff 7411', //                next: the next name; done if there is none
    '89de 31d2 b885000000 0f05 85c0 74e4 eb09', //     mknod(name, mode, 0); next if it could, else fail
    '31ff b83c000000 0f05', //                         done: exit(0)
  ],
  arm64: [
    'e90340f9 3f1500f1 8b040054 f3430091', //          argc; fail if it is below 5; argv from 1 on
    '6a0240f9 49014079 aba58d52 3f010b6b c1030054', // fail unless argument 1 begins with "-m"
    '6a0a40f9 49014079 aba58552 3f010b6b 21030054', // fail unless argument 3 begins with "--"
    '000080d2 c81480d2 010000d4', //                   umask(0)
    '690640f9 140080d2', //                            argument 2, the mode
    '2a154038 4ac10071 64000054 540d140b fcffff17', // its octal digits
    '94021432 73620091', //                            S_IFIFO; argv from 4 on
    '618640f8 010100b4', //                            next: the next name; done if there is none
    '600c8092 e203142a 030080d2 280480d2 010000d4', // mknodat(AT_FDCWD, name, mode, 0)
    '20ffff34 04000014', //                            next if it could, else fail
    '000080d2 a80b80d2 010000d4', //                   done: exit(0)
  ],
};

/**
 * The guest's `mkfifo`, as it is called: with `-m`, an octal mode, `--` and names. Like `becomeProgram`, it opens no file
 * of the image. `processor`: as `process.arch`. Throws for an unknown one.
 */
export const fifoProgram = (processor: string): Buffer => staticProgram('mkfifo', CODE, processor);
