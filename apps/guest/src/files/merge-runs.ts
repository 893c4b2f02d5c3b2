import type { Slices } from './slices.js';

/** Length of the runs that `mergeRuns` gets: short enough to sort one within a slice of time. */
export const RUN_LENGTH = 1_024;
/** Number of elements between two checks of the clock. */
const CHECK_EVERY = 256;

/** Merges sorted runs into one sorted array; yields to other work regularly. */
export const mergeRuns = async (
  runs: readonly (readonly string[])[],
  slices: Slices,
): Promise<readonly string[]> => {
  let level = runs;
  while (level.length > 1) {
    const next: (readonly string[])[] = [];
    for (let index = 0; index < level.length; index += 2) {
      next.push(await mergeTwo(level[index] ?? [], level[index + 1] ?? [], slices));
    }
    level = next;
  }
  return level[0] ?? [];
};

const mergeTwo = async (
  left: readonly string[],
  right: readonly string[],
  slices: Slices,
): Promise<readonly string[]> => {
  const merged: string[] = [];
  let [fromLeft, fromRight] = [0, 0];
  for (;;) {
    if (merged.length % CHECK_EVERY === 0) await slices.restIfOver();
    const [one, other] = [left[fromLeft], right[fromRight]];
    if (one === undefined && other === undefined) return merged;
    if (other === undefined || (one !== undefined && one <= other)) {
      merged.push(one as string);
      fromLeft++;
    } else {
      merged.push(other);
      fromRight++;
    }
  }
};
