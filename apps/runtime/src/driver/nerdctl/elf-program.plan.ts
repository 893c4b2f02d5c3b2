const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const ADDRESS = 0x400000;

/** The address at which the instructions of an `elfProgram` are loaded. */
export const CODE_ADDRESS = ADDRESS + HEADER_BYTES + SEGMENT_BYTES;

/** A static 64-bit little-endian program. `machine`: the number of the processor in ELF. */
export const elfProgram = (machine: number, instructions: Buffer): Buffer => {
  const headers = Buffer.alloc(HEADER_BYTES + SEGMENT_BYTES);
  const size = BigInt(headers.length + instructions.length);
  // 64 bits, little-endian, version 1 of ELF.
  headers.write('7f454c46020101', 'hex');
  headers.writeUInt16LE(2, 16);
  headers.writeUInt16LE(machine, 18);
  headers.writeUInt32LE(1, 20);
  headers.writeBigUInt64LE(BigInt(CODE_ADDRESS), 24);
  headers.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  headers.writeUInt16LE(HEADER_BYTES, 52);
  headers.writeUInt16LE(SEGMENT_BYTES, 54);
  headers.writeUInt16LE(1, 56);
  // One segment, the whole file, that is read and executed.
  headers.writeUInt32LE(1, HEADER_BYTES);
  headers.writeUInt32LE(5, HEADER_BYTES + 4);
  for (const at of [16, 24]) headers.writeBigUInt64LE(BigInt(ADDRESS), HEADER_BYTES + at);
  for (const at of [32, 40]) headers.writeBigUInt64LE(size, HEADER_BYTES + at);
  headers.writeBigUInt64LE(BigInt(0x10000), HEADER_BYTES + 48);
  return Buffer.concat([headers, instructions]);
};

/** Processors, by the names that Node gives them. */
type Processor = 'x64' | 'arm64';

/** Machine code in hexadecimal, up to where it fails; spaces separate instructions. */
export type MachineCode = Readonly<Record<Processor, readonly string[]>>;

/** The numbers of ELF. */
const MACHINES: ReadonlyMap<string, readonly [Processor, number]> = new Map([
  ['x64', ['x64', 62]],
  ['arm64', ['arm64', 183]],
]);

export const littleEndian = (value: number): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString('hex');
};

const WRITE_AND_EXIT: Readonly<Record<Processor, (length: number) => readonly string[]>> = {
  x64: (length) => [
    'bf02000000 488d3518000000', //                            write(2, the line below, its length)
    `ba${littleEndian(length)} b801000000 0f05`,
    'bf7d000000 b83c000000 0f05', //                           exit(125)
  ],
  arm64: (length) => [
    '400080d2 e1000010', //                                    write(2, the line below, its length)
    `${littleEndian(0xd2800002 + length * 32)} 080880d2 010000d4`,
    'a00f80d2 a80b80d2 010000d4', //                           exit(125)
  ],
};

/** The code of a program of that name from where it fails: it says so and exits with 125. */
export const failure = (processor: Processor, name: string): string => {
  const line = Buffer.from(`${name}: incomplete arguments, or refused by the kernel\n`);
  return WRITE_AND_EXIT[processor](line.length).join('') + line.toString('hex');
};

/** A static program for `processor`, as `process.arch`. Throws for one that the code is not there for. */
export const staticProgram = (name: string, code: MachineCode, processor: string): Buffer => {
  const known = MACHINES.get(processor);
  if (known === undefined)
    throw new Error(`Agents in containers cannot run on this processor: ${processor}.`);
  const [of, machine] = known;
  const instructions = `${code[of].join('')}${failure(of, name)}`.replaceAll(' ', '');
  return elfProgram(machine, Buffer.from(instructions, 'hex'));
};
