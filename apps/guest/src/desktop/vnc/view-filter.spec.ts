import { describe, expect, it } from 'vitest';
import { ViewFilter } from './view-filter.js';

const bytes = (...parts: readonly (readonly number[] | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));
const zeros = (count: number): Buffer => Buffer.alloc(count);
const encodings = (...all: readonly number[]): Buffer => {
  const message = Buffer.alloc(4 + all.length * 4);
  message[0] = 2;
  message[3] = all.length;
  for (const [index, encoding] of all.entries()) message.writeInt32BE(encoding, 4 + index * 4);
  return message;
};

const PIXEL_FORMAT = bytes([0], zeros(19));
const UPDATE = bytes([3, 1, 0, 0, 0, 0, 5, 0, 3, 32]);
const CONTINUOUS = bytes([150, 1], zeros(8));
const FENCE = bytes([248, 0, 0, 0, 0, 0, 0, 1, 3, 7, 8, 9]);
const LOOKS = [PIXEL_FORMAT, encodings(0, 16, -313), UPDATE, CONTINUOUS, FENCE];
const ACTS = [
  bytes([4, 1, 0, 0, 0, 0, 0, 0x61]),
  bytes([5, 1, 0, 9, 0, 9]),
  bytes([6, 0, 0, 0, 0, 0, 0, 3], [3, 0, 4]),
  // The extended clipboard gives a negative length.
  bytes([6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfb], [1, 0, 0, 1, 5]),
  bytes([250, 0, 1, 2]),
  bytes([251, 0, 3, 0, 2, 0, 1, 0], zeros(16)),
  bytes([255, 0, 0, 1], zeros(8)),
  bytes([255, 1, 0, 0]),
  bytes([255, 1, 0, 2], zeros(6)),
];

describe('the messages of a client that only looks', () => {
  it('pass if they look, and are dropped if they act, however the bytes arrive', () => {
    const sent = Buffer.concat(LOOKS.flatMap((look, index) => [look, ...ACTS.slice(index), look]));
    const passed = Buffer.concat(LOOKS.flatMap((look) => [look, look]));
    for (const size of [1, 2, 3, 7, sent.length]) {
      const filter = new ViewFilter();
      const pieces = Array.from({ length: Math.ceil(sent.length / size) }, (_, index) =>
        filter.take(sent.subarray(index * size, (index + 1) * size)),
      );
      expect(Buffer.concat(pieces)).toEqual(passed);
    }
  });

  it('ask for no encoding that lets a client act or makes its messages longer', () => {
    const kept = [0, 7, -223, -239, -312];
    const unwanted = [-308, -316, -1_063_131_698];
    expect(new ViewFilter().take(encodings(...unwanted, ...kept))).toEqual(encodings(...kept));
  });

  it('hold back no more memory than one message that looks, whatever lengths they name', () => {
    const filter = new ViewFilter();
    expect(filter.take(bytes([6, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]))).toHaveLength(0);
    for (let piece = 0; piece < 100; piece++) expect(filter.take(zeros(1_000_000))).toHaveLength(0);
    expect(() => new ViewFilter().take(bytes([2, 0, 0xff, 0xff]))).toThrow('too many encodings');
  });

  it.each([[[1, 0, 0]], [[99]], [[255, 7, 0, 0]], [[82, 70, 66]]])(
    'end the client if they are %j',
    (message) => {
      expect(() => new ViewFilter().take(Buffer.from(message))).toThrow('not known');
    },
  );
});
