import { staticProgram, type MachineCode } from './elf-program.plan.js';

const CODE: MachineCode = {
  x64: [
    'bf00000010 b810010000 0f05 85c0 7520', //         unshare(CLONE_NEWUSER); fail if it cannot
    '6a0a bf01000000 4889e6 ba01000000', //            write(1, line feed, 1)
    'b801000000 0f05',
    '31ff 31c0 0f05 31ff eb1d', //                     read(0, the same place, 1); exit(0) of the failure that follows
  ],
  arm64: [
    '0000a2d2 280c80d2 010000d4 a0010035', //          unshare(CLONE_NEWUSER); fail if it cannot
    '490180d2 e90f1ff8 200080d2 e1030091 220080d2', // write(1, line feed, 1)
    '080880d2 010000d4',
    '000080d2 e80780d2 010000d4 000080d2 07000014', //  read(0, the same place, 1); exit(0)
  ],
};

/**
 * A program that creates a user namespace, writes a line and holds the namespace until its input ends. Like
 * `becomeProgram`, it opens no file of the image. `processor`: as `process.arch`. Throws for an unknown one.
 */
export const namespaceProgram = (processor: string): Buffer =>
  staticProgram('hold-namespace', CODE, processor);
