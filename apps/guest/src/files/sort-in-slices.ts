import type { Slices } from './slices.js';

/** Length of the runs that `mergeRuns` gets: short enough to sort one within a slice of time. */
export const RUN_LENGTH = 1_024;
/** Number of elements between two checks of the clock. */
const CHECK_EVERY = 256;

type Order<T> = (left: T, right: T) => number;

/** Merges sorted runs into one sorted array; yields to other work regularly. */
export const mergeRuns = async <T>(
  runs: readonly (readonly T[])[],
  order: Order<T>,
  slices: Slices,
): Promise<readonly T[]> => {
  let level = runs;
  while (level.length > 1) {
    const next: (readonly T[])[] = [];
    for (let index = 0; index < level.length; index += 2) {
      next.push(await mergeTwo(level[index] ?? [], level[index + 1] ?? [], order, slices));
    }
    level = next;
  }
  return level[0] ?? [];
};

const mergeTwo = async <T>(
  left: readonly T[],
  right: readonly T[],
  order: Order<T>,
  slices: Slices,
): Promise<readonly T[]> => {
  const merged: T[] = [];
  let [fromLeft, fromRight] = [0, 0];
  for (;;) {
    if (merged.length % CHECK_EVERY === 0 && slices.over) await slices.rest();
    const [one, other] = [left[fromLeft], right[fromRight]];
    if (one === undefined && other === undefined) return merged;
    if (other === undefined || (one !== undefined && order(one, other) <= 0)) {
      merged.push(one as T);
      fromLeft++;
    } else {
      merged.push(other);
      fromRight++;
    }
  }
};

/** Orders by code point, which equals the order of the UTF-8 bytes. */
export const byCodePoint = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (one !== other) return weigh(one) - weigh(other);
  }
  return left.length - right.length;
};

/** A surrogate is half of a code point that sorts after all code points of one unit. */
const weigh = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
