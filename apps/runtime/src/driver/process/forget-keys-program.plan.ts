import { staticProgram, type MachineCode } from '../nerdctl/elf-program.plan.js';

const CODE: MachineCode = {
  x64: [
    'bf07000000 befcffffff b8fa000000 0f05', //            keyctl(KEYCTL_CLEAR, the user's keyring)
    'bf16000000 beffffffff bafeffffff b8fa000000 0f05', // keyctl(KEYCTL_GET_PERSISTENT, this user, the process's keyring)
    '89c6 bf07000000 b8fa000000 0f05', //                  keyctl(KEYCTL_CLEAR, that one)
    '31ff b83c000000 0f05', //                             exit(0)
  ],
  arm64: [
    'e00080d2 61008012 681b80d2 010000d4', //              keyctl(KEYCTL_CLEAR, the user's keyring)
    'c00280d2 01008012 22008012 010000d4', //              keyctl(KEYCTL_GET_PERSISTENT, this user, the process's keyring)
    'e103002a e00080d2 010000d4', //                       keyctl(KEYCTL_CLEAR, that one)
    '000080d2 a80b80d2 010000d4', //                       exit(0)
  ],
};

/**
 * A program that clears the keyrings that the kernel keeps for its user beyond the user's processes. `processor`: as
 * `process.arch`. Throws for an unknown one.
 */
export const forgetKeysProgram = (processor: string): Buffer => staticProgram('forget-keys', CODE, processor);
