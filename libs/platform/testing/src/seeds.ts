/** `count` neighbouring seeds. */
export const seedsFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);

/** Seeds that hardly any run had before, from the clock. Prints them, so that a failure can be repeated. */
export const freshSeeds = (count: number): readonly number[] => {
  const first = Date.now() % 1_000_000_000;
  process.stdout.write(`seeds ${String(first)} to ${String(first + count - 1)}\n`);
  return seedsFrom(first, count);
};
