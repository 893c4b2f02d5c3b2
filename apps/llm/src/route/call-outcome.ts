import { NO_TOKENS, type Tokens } from '../ledger/token-price.js';
import { isObject, memberOf } from '../dialect/json-value.js';
import type { Operation } from '../dialect/operation.js';
import { usageOf } from '../usage/reported-usage.js';
import type { StreamFacts } from '../usage/stream-usage.js';

/** The outcome of an exchange with an upstream. `unknown`: it may have been billed, for at most what is reserved. */
export type CallOutcome =
  | { readonly kind: 'known'; readonly tokens: Tokens }
  | { readonly kind: 'unknown'; readonly tokens: Tokens }
  | { readonly kind: 'failed' }
  /** No upstream has got it; whether the ledgers have reserved it is unknown. */
  | { readonly kind: 'unsent' };

export const FAILED: CallOutcome = { kind: 'failed' };
export const UNSENT: CallOutcome = { kind: 'unsent' };
export const UNKNOWN: CallOutcome = { kind: 'unknown', tokens: NO_TOKENS };

/** The outcome of a complete response with a success status. */
export const outcomeOfBody = (text: string | undefined, operation: Operation): CallOutcome => {
  const body = text === undefined ? undefined : parse(text);
  const tokens = usageOf(body, operation);
  if (tokens !== undefined) return { kind: 'known', tokens };
  return isObject(body) && memberOf(body, 'error') !== undefined ? FAILED : UNKNOWN;
};

/** Of a stream of events. `isComplete`: it ended as HTTP says it does. */
export const outcomeOfStream = (facts: StreamFacts, isComplete: boolean): CallOutcome => {
  const { usage, isFinal, known, failed, hasOutput } = facts;
  if (failed && !hasOutput) return FAILED;
  if (usage !== undefined && (isFinal || (isComplete && !failed))) return { kind: 'known', tokens: usage };
  return { kind: 'unknown', tokens: known };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
