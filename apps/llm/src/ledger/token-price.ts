import { divideDown, divideUp, type Millionths } from '@berth/kernel';

import { tokenCount } from './token-count.js';

/** Tokens per unit of a rate. */
const MILLION = 1_000_000n;

/** Millionths of a cent for a million tokens of each kind. */
export interface Rates {
  readonly input: Millionths;
  readonly cachedInput: Millionths;
  readonly cacheWrite: Millionths;
  readonly output: Millionths;
  readonly reasoning: Millionths;
}

/** The tokens of a call. */
export interface Tokens {
  /** All input, cached and cache-written tokens included. */
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  /** All output, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

export const NO_TOKENS: Tokens = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/** The sum of the parts, rounded up once. */
export const costOf = (tokens: Tokens, rates: Rates): Millionths => {
  const plainInput = BigInt(tokens.input - tokens.cachedInput - tokens.cacheWrite);
  const plainOutput = BigInt(tokens.output - tokens.reasoning);
  const parts =
    plainInput * rates.input +
    BigInt(tokens.cachedInput) * rates.cachedInput +
    BigInt(tokens.cacheWrite) * rates.cacheWrite +
    plainOutput * rates.output +
    BigInt(tokens.reasoning) * rates.reasoning;
  return divideUp(parts, MILLION);
};

/** The highest possible cost of a call. */
export interface Bound {
  /** Input tokens, at most. */
  readonly inputTokens: number;
  /** Output tokens of one choice, at most. */
  readonly outputTokens: number;
  /** How many choices are generated. */
  readonly choices: number;
  readonly rates: Rates;
}

export const mostOf = ({ inputTokens, outputTokens, choices, rates }: Bound): Millionths =>
  divideUp(
    BigInt(inputTokens) * dearestInput(rates) + BigInt(outputTokens) * BigInt(choices) * dearestOutput(rates),
    MILLION,
  );

/** The output tokens of one choice, up to `outputTokens`, with which the call fits into `left`; 0 if it does not. */
export const affordedOutput = (bound: Bound, left: Millionths): number => {
  const { inputTokens, outputTokens, choices, rates } = bound;
  if (mostOf(bound) <= left) return outputTokens;
  const rate = dearestOutput(rates) * BigInt(choices);
  const forOutput = left * MILLION - BigInt(inputTokens) * dearestInput(rates);
  if (rate === 0n || forOutput < rate) return 0;
  return tokenCount(divideDown(forOutput, rate));
};

const dearestInput = ({ input, cachedInput, cacheWrite }: Rates): Millionths =>
  larger(larger(input, cachedInput), cacheWrite);

const dearestOutput = ({ output, reasoning }: Rates): Millionths => larger(output, reasoning);

const larger = (one: Millionths, other: Millionths): Millionths => (one > other ? one : other);
