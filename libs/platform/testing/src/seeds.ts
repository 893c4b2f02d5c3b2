import { relative } from 'node:path';
import { expect } from 'vitest';

/** `count` neighbouring seeds. */
export const seedsFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);

/** Set to repeat a run. */
const SEED_VARIABLE = 'BERTH_TEST_SEED';

/**
 * Seeds that hardly any run had before, from the clock, or those from `BERTH_TEST_SEED` on. Prints them with the command
 * that repeats them.
 */
export const freshSeeds = (count: number): readonly number[] => {
  const given = process.env[SEED_VARIABLE];
  const first = given === undefined ? Date.now() % 1_000_000_000 : Number(given);
  if (!Number.isSafeInteger(first)) throw new Error(`${SEED_VARIABLE} must be a whole number.`);
  const file = relative(process.cwd(), expect.getState().testPath ?? '');
  process.stdout.write(
    `seeds ${String(first)} to ${String(first + count - 1)}; to repeat them: ` +
      `${SEED_VARIABLE}=${String(first)} npm run test:long -- ${file}\n`,
  );
  return seedsFrom(first, count);
};
