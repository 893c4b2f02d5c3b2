import { summarize, summarizeBulk, type Summary } from './statistics.js';

/** Repeats `work` for `ms` milliseconds in `concurrency` workers; `work` gets the number of its worker, from 0. */
export const repeatFor = async (
  ms: number,
  concurrency: number,
  work: (worker: number) => Promise<unknown>,
): Promise<Summary> => {
  const times: number[] = [];
  const begun = performance.now();
  const end = begun + ms;
  const worker = async (number: number): Promise<void> => {
    for (let at = performance.now(); at < end;) {
      await work(number);
      const now = performance.now();
      times.push(now - at);
      at = now;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, number) => worker(number)));
  return summarize(times, performance.now() - begun);
};

/**
 * Repeats `work` this many times, one after the other. `work` returns the duration of the part that counts, in
 * milliseconds.
 */
export const repeatTimes = async (
  count: number,
  work: (index: number) => Promise<number>,
): Promise<Summary> => {
  const times: number[] = [];
  for (let index = 0; index < count; index++) times.push(await work(index));
  return summarize(times, sumOf(times));
};

/** Like `repeatTimes`, but as long as `isOn` returns true, and at least once. */
export const repeatWhile = async (isOn: () => boolean, work: () => Promise<number>): Promise<Summary> => {
  const times: number[] = [];
  do times.push(await work());
  while (isOn());
  return summarize(times, sumOf(times));
};

const sumOf = (times: readonly number[]): number => times.reduce((sum, time) => sum + time, 0);

/** Runs `work` once; it returns the number of things it did. */
export const bulk = async (work: () => Promise<number>): Promise<Summary> => {
  const begun = performance.now();
  const count = await work();
  return summarizeBulk(count, performance.now() - begun);
};

/** The duration of `work`, in milliseconds. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};
