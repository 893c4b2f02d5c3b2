import type { Picture } from './pixels.js';

/** The source pixels of one target pixel along one axis, and their weights, which sum to `ONE`. */
interface Taps {
  readonly first: Int32Array;
  readonly count: number;
  readonly weights: Int32Array;
}

const BITS = 14;
const ONE = 1 << BITS;
const HALF = ONE >> 1;

/** Scales a picture: smaller by the mean of what each pixel covers, larger by what lies between two pixels. */
export const resample = (picture: Picture, width: number, height: number, lead: number): Picture => {
  const across = tapsOf(picture.width, width);
  const down = tapsOf(picture.height, height);
  const narrow = scaleRows(picture, across, width);
  return { width, height, lead, bytes: scaleColumns(narrow, width, { down, height, lead }) };
};

/** A triangle around the middle of each target pixel, as wide as two source pixels or two target pixels. */
const tapsOf = (from: number, to: number): Taps => {
  const ratio = from / to;
  const reach = Math.max(1, ratio);
  const count = Math.min(from, Math.ceil(reach * 2) + 1);
  const first = new Int32Array(to);
  const weights = new Int32Array(to * count);
  for (let index = 0; index < to; index++) {
    const middle = (index + 0.5) * ratio - 0.5;
    const start = Math.max(0, Math.min(from - count, Math.ceil(middle - reach)));
    first[index] = start;
    const raw = Array.from({ length: count }, (_, tap) =>
      Math.max(0, 1 - Math.abs(start + tap - middle) / reach),
    );
    const sum = raw.reduce((one, other) => one + other, 0);
    let rest = ONE;
    let heaviest = 0;
    raw.forEach((weight, tap) => {
      const rounded = Math.round((weight / sum) * ONE);
      weights[index * count + tap] = rounded;
      rest -= rounded;
      if (weight > (raw[heaviest] ?? 0)) heaviest = tap;
    });
    // An even colour must stay exactly what it is.
    weights[index * count + heaviest] = (weights[index * count + heaviest] ?? 0) + rest;
  }
  return { first, count, weights };
};

const scaleRows = ({ width, height, lead, bytes }: Picture, taps: Taps, to: number): Uint8Array => {
  const { first, count, weights } = taps;
  const result = new Uint8Array(to * 3 * height);
  for (let row = 0, at = 0; row < height; row++) {
    const start = row * (lead + width * 3) + lead;
    for (let column = 0; column < to; column++) {
      let from = start + (first[column] as number) * 3;
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      for (let tap = column * count; tap < (column + 1) * count; tap++, from += 3) {
        const weight = weights[tap] as number;
        red += (bytes[from] as number) * weight;
        green += (bytes[from + 1] as number) * weight;
        blue += (bytes[from + 2] as number) * weight;
      }
      result[at++] = red >> BITS;
      result[at++] = green >> BITS;
      result[at++] = blue >> BITS;
    }
  }
  return result;
};

const scaleColumns = (
  rows: Uint8Array,
  width: number,
  { down, height, lead }: { readonly down: Taps; readonly height: number; readonly lead: number },
): Buffer => {
  const { first, count, weights } = down;
  const stride = width * 3;
  const result = Buffer.alloc((lead + stride) * height);
  const sums = new Int32Array(stride);
  for (let row = 0; row < height; row++) {
    sums.fill(HALF);
    for (let tap = 0; tap < count; tap++) {
      const weight = weights[row * count + tap] as number;
      if (weight === 0) continue;
      const from = ((first[row] as number) + tap) * stride;
      for (let at = 0; at < stride; at++)
        sums[at] = (sums[at] as number) + (rows[from + at] as number) * weight;
    }
    const to = row * (lead + stride) + lead;
    for (let at = 0; at < stride; at++) result[to + at] = (sums[at] as number) >> BITS;
  }
  return result;
};
