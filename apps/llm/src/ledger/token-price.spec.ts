import { describe, expect, it } from 'vitest';
import { affordedOutput, costOf, mostOf, NO_TOKENS, type Bound, type Rates } from './token-price.js';

/** In millionths of a cent for a million tokens. */
const RATES: Rates = {
  input: 3_000_000n,
  cachedInput: 1_000_000n,
  cacheWrite: 5_000_000n,
  output: 20_000_000n,
  reasoning: 7_000_000n,
};
const bound = (more: Partial<Bound> = {}): Bound => ({
  inputTokens: 10,
  outputTokens: 10,
  choices: 1,
  rates: RATES,
  ...more,
});

describe('the cost of a call', () => {
  it('has plain, cached, cache-written, output and reasoning tokens at their own rates', () => {
    const tokens = { input: 100, cachedInput: 40, cacheWrite: 10, output: 30, reasoning: 20 };
    expect(costOf(tokens, RATES)).toBe(50n * 3n + 40n * 1n + 10n * 5n + 10n * 20n + 20n * 7n);
    expect(costOf(NO_TOKENS, RATES)).toBe(0n);
  });

  it('is the sum of its parts, rounded up once', () => {
    const third: Rates = { input: 1n, cachedInput: 1n, cacheWrite: 1n, output: 1n, reasoning: 1n };
    const tokens = { input: 3, cachedInput: 1, cacheWrite: 1, output: 2, reasoning: 1 };
    expect(costOf(tokens, third)).toBe(1n);
    expect(costOf({ ...NO_TOKENS, input: 1_000_000 }, third)).toBe(1n);
    expect(costOf({ ...NO_TOKENS, input: 1_000_000, output: 1 }, third)).toBe(2n);
  });

  it('is exact beyond what a double holds', () => {
    const tokens = { ...NO_TOKENS, input: 9_007_199_254_740_991 };
    expect(costOf(tokens, RATES)).toBe(27_021_597_764_222_973n);
  });
});

describe('the most that a call may cost', () => {
  it.each([
    ['plain', { input: 9_000_000n }],
    ['cached', { cachedInput: 9_000_000n }],
    ['cache-written', { cacheWrite: 9_000_000n }],
  ])('has all input at the dearest rate: %s', (_which, rates) => {
    expect(mostOf(bound({ outputTokens: 0, rates: { ...RATES, ...rates } }))).toBe(90n);
  });

  it('has the output of each choice, and the input once', () => {
    expect(mostOf(bound())).toBe(10n * 5n + 10n * 20n);
    expect(mostOf(bound({ choices: 3 }))).toBe(10n * 5n + 3n * 10n * 20n);
  });

  it('has all output at the rate of reasoning where that is dearer', () => {
    expect(mostOf(bound({ inputTokens: 0, rates: { ...RATES, reasoning: 30_000_000n } }))).toBe(300n);
  });

  it('is rounded up once, and never less than the cost within the bounds', () => {
    const rates: Rates = { input: 1n, cachedInput: 1n, cacheWrite: 1n, output: 1n, reasoning: 1n };
    expect(mostOf(bound({ rates }))).toBe(1n);
    expect(mostOf(bound({ rates, outputTokens: 999_990 }))).toBe(1n);
    expect(mostOf(bound({ rates, outputTokens: 999_991 }))).toBe(2n);
  });
});

describe('the output that is afforded', () => {
  it('is all that was asked for if it fits, to the last millionth', () => {
    expect(affordedOutput(bound(), 250n)).toBe(10);
    expect(affordedOutput(bound(), 249n)).toBe(9);
  });

  it('is the most that fits: one token more does not', () => {
    for (let left = 0n; left <= 260n; left++) {
      for (const choices of [1, 3]) {
        const outputTokens = affordedOutput(bound({ choices }), left);
        if (outputTokens > 0) expect(mostOf(bound({ choices, outputTokens }))).toBeLessThanOrEqual(left);
        if (outputTokens < 10)
          expect(mostOf(bound({ choices, outputTokens: outputTokens + 1 }))).toBeGreaterThan(left);
      }
    }
  });

  it('is nothing if the input alone does not fit, also where output is free', () => {
    const rates = { ...RATES, output: 0n, reasoning: 0n };
    expect(affordedOutput(bound({ rates }), 49n)).toBe(0);
    expect(affordedOutput(bound({ rates }), 50n)).toBe(10);
    expect(affordedOutput(bound(), -1n)).toBe(0);
  });
});
