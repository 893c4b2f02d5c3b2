import { expect, it } from 'vitest';
import { GatheredCalls } from './gathered-calls.js';

const calls: (readonly number[])[] = [];
let release: () => void = () => undefined;

const gathered = (most: number) => {
  calls.length = 0;
  return new GatheredCalls<number, number>(async (numbers) => {
    calls.push(numbers);
    await new Promise<void>((resolve) => (release = resolve));
    if (numbers.includes(0)) throw new Error('no zero');
    return numbers.map((one) => one * 10);
  }, most);
};

const settle = async <T>(work: Promise<T>): Promise<T> => {
  let over = false;
  void work.finally(() => (over = true)).catch(() => undefined);
  while (!over) {
    release();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return work;
};

it('what arrives during a call is in the next one, in its order, and each gets its own response', async () => {
  const numbers = gathered(3);
  const responses = [1, 2, 3, 4, 5].map((one) => numbers.call(one));
  expect(await settle(Promise.all(responses))).toEqual([10, 20, 30, 40, 50]);
  expect(calls).toEqual([[1], [2, 3, 4], [5]]);
  expect(await settle(numbers.call(6))).toBe(60);
});

it('a call that fails fails what it contains, and nothing after it', async () => {
  const numbers = gathered(2);
  const outcomes = Promise.allSettled([1, 0, 2, 3].map((one) => numbers.call(one)));
  expect((await settle(outcomes)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
});
