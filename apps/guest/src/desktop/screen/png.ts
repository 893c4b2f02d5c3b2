import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { Picture } from './pixels.js';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The byte of the filter at the start of each row; zero is none. */
export const PNG_LEAD = 1;
const DEFLATE = { level: 1, memLevel: 9, chunkSize: 1 << 20 } as const;

/** Encodes a picture whose rows begin with `PNG_LEAD` bytes. A thread of the pool compresses it. */
export const encodePng = async ({ width, height, bytes }: Picture): Promise<Buffer> => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a channel, red, green and blue.
  header.set([8, 2], 8);
  const data = await promisify(deflate)(bytes, DEFLATE);
  return Buffer.concat([
    SIGNATURE,
    ...chunk('IHDR', header),
    ...chunk('IDAT', data),
    ...chunk('IEND', Buffer.alloc(0)),
  ]);
};

const chunk = (type: string, data: Buffer): readonly Buffer[] => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const name = Buffer.from(type, 'latin1');
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(data, crc32(name)));
  return [length, name, data, sum];
};
