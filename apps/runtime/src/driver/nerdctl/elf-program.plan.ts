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
