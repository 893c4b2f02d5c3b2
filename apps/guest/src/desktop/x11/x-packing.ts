/** Parts of requests of the X protocol, in the byte order that `XConnection` announces: little endian. */
export const u8 = (...values: readonly number[]): Buffer => Buffer.from(values);

export const u16 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.allocUnsafe(values.length * 2);
  // `& 0xffff` also packs signed values.
  values.forEach((value, index) => bytes.writeUInt16LE(value & 0xffff, index * 2));
  return bytes;
};

export const u32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32LE(value >>> 0, index * 4));
  return bytes;
};

/** The largest length that the header of a request can state without BIG-REQUESTS, in units of four bytes. */
const LONGEST = 0xffff;

/** One request: its header, its parts, and what fills it up to a multiple of four bytes. */
export const packRequest = (opcode: number, data: number, ...parts: readonly Buffer[]): Buffer => {
  const bytes = parts.reduce((sum, part) => sum + part.length, 4);
  const units = Math.ceil(bytes / 4);
  const fill = Buffer.alloc(units * 4 - bytes);
  return units <= LONGEST
    ? Buffer.concat([u8(opcode, data), u16(units), ...parts, fill])
    : Buffer.concat([u8(opcode, data), u16(0), u32(units + 1), ...parts, fill]);
};

/** A text that fills its last unit of four bytes. */
export const padded = (text: string | Buffer): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
};
