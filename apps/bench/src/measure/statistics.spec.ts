import { describe, expect, it } from 'vitest';
import {
  median,
  middleRound,
  percentile,
  ratioOf,
  summarize,
  summarizeBulk,
  type Summary,
} from './statistics.js';

const round = (perSecond: number, p50: number | null = null): Summary => ({
  count: 1,
  perSecond,
  p50,
  p99: p50,
});

describe('a percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

  it('is a measured value: the smallest one that covers the share', () => {
    expect([0.01, 0.5, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([1, 50, 99, 100]);
    expect(percentile([7, 3], 0.5)).toBe(3);
    expect(percentile([7, 3], 0.51)).toBe(7);
  });

  it('sorts numerically, and leaves its input unchanged', () => {
    const values = [100, 9, 20];
    expect(median(values)).toBe(20);
    expect(values).toEqual([100, 9, 20]);
  });

  it('of one value is that value; of no values it throws', () => {
    expect([0, 0.5, 1].map((share) => percentile([4], share))).toEqual([4, 4, 4]);
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });
});

describe('a summary', () => {
  it('computes the rate from the elapsed time and the percentiles from the single times', () => {
    expect(summarize([1, 2, 3, 4], 500)).toEqual({ count: 4, perSecond: 8, p50: 2, p99: 4 });
    expect(summarizeBulk(50_000, 2_000)).toEqual({ count: 50_000, perSecond: 25_000, p50: null, p99: null });
  });

  it('throws for no values or no time instead of returning a zero or infinite rate', () => {
    expect(() => summarizeBulk(0, 1_000)).toThrow(RangeError);
    expect(() => summarizeBulk(5, 0)).toThrow(RangeError);
  });
});

describe('a ratio', () => {
  it('divides ours by the limit of the same round and takes the median', () => {
    const ours = [round(50), round(10), round(90)];
    const limit = [round(100), round(100), round(100)];
    expect(ratioOf('rate', ours, limit)).toEqual({ middle: 0.5, least: 0.1, most: 0.9 });
  });

  it('is not affected by a round in which the machine was slow for both', () => {
    const ratio = ratioOf('rate', [round(50), round(5), round(20)], [round(100), round(10), round(40)]);
    expect(ratio).toEqual({ middle: 0.5, least: 0.5, most: 0.5 });
  });

  it('of times divides the medians, not the rates', () => {
    expect(ratioOf('time', [round(999, 30)], [round(999, 10)]).middle).toBe(3);
  });

  it('requires the same number of rounds on both sides', () => {
    expect(() => ratioOf('rate', [round(1)], [])).toThrow(RangeError);
    expect(() => ratioOf('rate', [], [])).toThrow(RangeError);
  });
});

describe('the median round', () => {
  it('is one of the rounds, with its own percentiles', () => {
    const rounds = [round(30, 3), round(10, 1), round(20, 2)];
    expect(middleRound('rate', rounds)).toBe(rounds[2]);
    expect(middleRound('time', [round(1, 9), round(1, 5), round(1, 7)]).p50).toBe(7);
    expect(() => middleRound('rate', [])).toThrow(RangeError);
  });
});
