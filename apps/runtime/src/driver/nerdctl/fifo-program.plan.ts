import { staticProgram, type MachineCode } from './elf-program.plan.js';

const CODE: MachineCode = {
  x64: [
    '488d6c2410 31ff b85f000000 0f05', //              argv from 1 on; umask(0)
    '488b7508 31db', //                                argument 2, the mode
    '0fb606 48ffc6 83e830 7805 8d1cd8 ebf0', //        its octal digits
    '81cb00100000 4883c518', //                        S_IFIFO; argv from 4 on
    '488b7d00 4883c508 4885ff 7414', //                next: the next name; exit(0) if there is none
    '89de 31d2 b885000000 0f05 85c0 74e4', //          mknod(name, mode, 0); next if it could
    'bf01000000 b83c000000 0f05', //                   exit(1)
  ],
  arm64: [
    'f3430091 000080d2 c81480d2 010000d4', //          argv from 1 on; umask(0)
    '690640f9 140080d2', //                            argument 2, the mode
    '2a154038 4ac10071 64000054 540d140b fcffff17', // its octal digits
    '94021432 73620091', //                            S_IFIFO; argv from 4 on
    '618640f8 000080d2 010100b4', //                   next: the next name; exit(0) if there is none
    '600c8092 e203142a 030080d2 280480d2 010000d4', // mknodat(AT_FDCWD, name, mode, 0)
    '00ffff34', //                                     next if it could
    '200080d2 a80b80d2 010000d4', //                   exit(1)
  ],
};

/**
 * The guest's `mkfifo`, as it is called: with `-m`, an octal mode, `--` and names. Like `becomeProgram`, it opens no file
 * of the image. `processor`: as `process.arch`. Throws for an unknown one.
 */
export const fifoProgram = (processor: string): Buffer => staticProgram(CODE, processor);
