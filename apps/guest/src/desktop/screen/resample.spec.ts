import { describe, expect, it } from 'vitest';
import { resample } from './resample.js';

const picture = (
  width: number,
  height: number,
  colour: (x: number, y: number) => number,
): Parameters<typeof resample>[0] => {
  const bytes = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at++) {
    bytes.writeUIntBE(colour(at % width, Math.floor(at / width)), at * 3, 3);
  }
  return { width, height, lead: 0, bytes };
};

describe('scaling a picture', () => {
  it('keeps an even colour exactly, whatever the sizes are', () => {
    for (const [width, height] of [
      [7, 5],
      [100, 3],
      [33, 64],
    ] as const) {
      const scaled = resample(
        picture(33, 20, () => 0x1234fe),
        width,
        height,
        0,
      );
      expect(scaled.bytes).toEqual(picture(width, height, () => 0x1234fe).bytes);
    }
  });

  it('makes the mean of what a smaller pixel covers', () => {
    const stripes = picture(64, 4, (x) => (x % 2 === 0 ? 0xffffff : 0));
    const grey = resample(stripes, 16, 1, 0).bytes.readUInt8(8 * 3);
    expect(Math.abs(grey - 128)).toBeLessThanOrEqual(2);
  });

  it('begins each row with as many bytes of zero as were asked for', () => {
    const scaled = resample(
      picture(4, 4, () => 0xffffff),
      2,
      2,
      1,
    );
    expect([...scaled.bytes]).toEqual([0, 255, 255, 255, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255]);
  });
});
