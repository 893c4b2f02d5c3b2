import { describe, expect, it } from 'vitest';
import { MessageReader } from './message-reader.js';

const message = (kind: number, extra: number): Buffer => {
  const bytes = Buffer.alloc(32 + extra * 4, kind);
  bytes.writeUInt32LE(extra, 4);
  return bytes;
};

describe('reading the messages of an X server', () => {
  it('cuts greeting, events and long replies out of pieces of any size', () => {
    const greeting = Buffer.from([1, 0, 11, 0, 0, 0, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const event = Buffer.alloc(32, 28);
    const sent = [greeting, message(1, 3), event, message(1, 0)];
    const bytes = Buffer.concat(sent);
    for (const size of [1, 7, 32, bytes.length]) {
      const read: Buffer[] = [];
      const reader = new MessageReader((one) => read.push(one));
      for (let at = 0; at < bytes.length; at += size) {
        const piece = Buffer.from(bytes.subarray(at, at + size));
        reader.read(piece, piece.length);
        piece.fill(0xee);
      }
      expect(read).toEqual(sent);
    }
  });
});
