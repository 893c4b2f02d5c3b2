import { affordedOutput, mostOf, type Bound } from './token-price.js';
import type { Millionths } from '@berth/kernel';

/** The request of a call to a ledger. */
export interface CallDemand {
  readonly bound: Bound;
  /** Whether the output may be limited to what the ledger affords: the caller set no limit. */
  readonly mayShrink: boolean;
}

/** The output and the amount that a ledger allows a call. */
export interface Allowance {
  readonly outputTokens: number;
  readonly amount: Millionths;
}

/** Returns the allowance that fits into `left` (null: no limit); undefined if the call does not fit. */
export const allow = ({ bound, mayShrink }: CallDemand, left: Millionths | null): Allowance | undefined => {
  const whole = { outputTokens: bound.outputTokens, amount: mostOf(bound) };
  if (left === null || whole.amount <= left) return whole;
  if (!mayShrink) return undefined;
  const outputTokens = affordedOutput(bound, left);
  return outputTokens === 0 ? undefined : { outputTokens, amount: mostOf({ ...bound, outputTokens }) };
};
