import { CODE_ADDRESS, elfProgram, failure, littleEndian } from './elf-program.plan.js';

/** An architecture of system calls, with the numbers of its `setns` and `unshare`. */
interface Calls {
  /** seccomp's number for the architecture. */
  readonly architecture: number;
  readonly numbers: readonly [number, number];
}

interface Processor {
  readonly machine: number;
  /** Machine code up to the address of the filter's description, and from there on. */
  readonly code: readonly [string, (address: number) => string, string];
  /** Its own system calls, and those of its programs of 32 bits. */
  readonly calls: readonly [Calls, Calls];
}

const PROCESSORS: Readonly<Record<string, Processor>> = {
  x64: {
    machine: 62,
    code: [
      '488b1c24 488d6c2410 4c8d64dc10' + //       argc, argv from 1 on, envp
        '488b7d00 be00000800 b802000000 0f05' + // open(argument 1, O_CLOEXEC)
        '85c0 785d 89c7' + //                     fail if it cannot
        'be00000010 b834010000 0f05 85c0 754b' + // setns(it, CLONE_NEWUSER)
        '31ff 31f6 31d2 b877000000 0f05 85c0 753a' + // setresgid(0, 0, 0)
        'b875000000 0f05 85c0 752f' + //          setresuid(0, 0, 0)
        'bf16000000 be02000000 ba', //            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, description)
      littleEndian,
      'b89d000000 0f05 85c0 7515' + //            fail if it cannot
        '4883c508 488b7d00 4889ee 4c89e2' + //    execve(argument 2, arguments from it on, envp)
        'b83b000000 0f05' +
        failure('x64', 'seal'),
    ],
    calls: [
      { architecture: 0xc000003e, numbers: [308, 272] },
      { architecture: 0x40000003, numbers: [346, 310] },
    ],
  },
  arm64: {
    machine: 183,
    code: [
      'e90340f9 f3430091 740e098b' + //           argc, argv from 1 on, envp
        '600c8092 610240f9 0201a0d2' + //         openat(AT_FDCWD, argument 1, O_CLOEXEC)
        '080780d2 010000d4 2003f837' + //         fail if it cannot
        '0100a2d2 882180d2 010000d4 a0020035' + // setns(it, CLONE_NEWUSER)
        '010080d2 020080d2 a81280d2 010000d4 00020035' + // setresgid(0, 0, 0)
        '681280d2 010000d4 a0010035' + //         setresuid(0, 0, 0)
        'c00280d2 410080d2 0208a0d2', //          prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, description)
      (address) => littleEndian(0xf2800002 + (address & 0xffff) * 32),
      'e81480d2 010000d4 c0000035' + //           fail if it cannot
        '608e40f8 e10313aa e20314aa' + //         execve(argument 2, arguments from it on, envp)
        'a81b80d2 010000d4' +
        failure('arm64', 'seal'),
    ],
    calls: [
      { architecture: 0xc00000b7, numbers: [268, 97] },
      { architecture: 0x40000028, numbers: [375, 337] },
    ],
  },
};

const DESCRIPTION_BYTES = 16;
const LOAD = 0x20;
const AND = 0x54;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const NOT_PERMITTED = 0x00050001;
const NUMBER = 0;
const ARCHITECTURE = 4;
/** The flag of x32, whose numbers are otherwise those of x64. */
const WITHOUT_X32 = 0xbfffffff;

/** Code, jumps over so many instructions if true and if false, operand. */
type Instruction = readonly [number, number, number, number];

const filter = ([own, narrow]: Processor['calls']): readonly Instruction[] => [
  [LOAD, 0, 0, ARCHITECTURE],
  [JUMP_IF_EQUAL, 0, 4, own.architecture],
  [LOAD, 0, 0, NUMBER],
  [AND, 0, 0, WITHOUT_X32],
  [JUMP_IF_EQUAL, 6, 0, own.numbers[0]],
  [JUMP_IF_EQUAL, 5, 4, own.numbers[1]],
  [JUMP_IF_EQUAL, 0, 4, narrow.architecture],
  [LOAD, 0, 0, NUMBER],
  [JUMP_IF_EQUAL, 2, 0, narrow.numbers[0]],
  [JUMP_IF_EQUAL, 1, 0, narrow.numbers[1]],
  [RETURN, 0, 0, ALLOW],
  [RETURN, 0, 0, NOT_PERMITTED],
];

/**
 * A program that is called with the file of a user namespace and a command: it becomes root of that namespace and then
 * the command, for ever without the system calls `setns` and `unshare`, which the guest needs and containerd's default
 * filter forbids. It starts nothing if it cannot. Like `becomeProgram`, it opens no file of the image. `processor`: as
 * `process.arch`. Throws for an unknown one.
 */
export const sealProgram = (processor: string): Buffer => {
  const known = PROCESSORS[processor];
  if (known === undefined)
    throw new Error(`Agents in containers cannot run on this processor: ${processor}.`);
  const [before, address, after] = known.code;
  const instructions = (at: number): Buffer =>
    Buffer.from(`${before}${address(at)}${after}`.replaceAll(' ', ''), 'hex');
  const end = CODE_ADDRESS + instructions(0).length;
  return elfProgram(known.machine, Buffer.concat([instructions(end), filterAt(end, known.calls)]));
};

/** The filter behind its description, which is at `address`. */
const filterAt = (address: number, calls: Processor['calls']): Buffer => {
  const program = filter(calls);
  const description = Buffer.alloc(DESCRIPTION_BYTES);
  description.writeUInt16LE(program.length);
  description.writeBigUInt64LE(BigInt(address + DESCRIPTION_BYTES), 8);
  const encoded = program.map(([code, ifTrue, ifFalse, operand]) => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16LE(code);
    bytes.writeUInt8(ifTrue, 2);
    bytes.writeUInt8(ifFalse, 3);
    bytes.writeUInt32LE(operand, 4);
    return bytes;
  });
  return Buffer.concat([description, ...encoded]);
};
