import type { LlmDialect } from '@berth/contracts/llm';
import type { EventCodec } from '@berth/event-store';
import type { StoredAmount } from '../ledger/stored-amount.js';
import type { Tokens } from '../ledger/token-price.js';

/** Identifies a call. Amounts are decimal millionths of a cent, times ISO 8601. */
export interface CallFacts {
  readonly callId: string;
  readonly agentId: string;
  readonly endUserId: string | null;
  readonly dialect: LlmDialect;
  /** The route below the dialect: `chat/completions`. */
  readonly operation: string;
  readonly model: string;
  /** The process that holds the connections of the call. */
  readonly instance: string;
  /** The call belongs to the day and month of this time. */
  readonly startedAt: string;
}

/** The first grant of the first account begins the counting. */
export interface CreditsGranted {
  readonly type: 'CreditsGranted';
  readonly accountId: string;
  /** Negative: taken away. */
  readonly amount: StoredAmount;
  readonly note: string | null;
  readonly at: string;
}

/** Nothing was sent yet. */
export interface LlmCallReserved extends CallFacts {
  readonly type: 'LlmCallReserved';
  /** For a million tokens. */
  readonly rates: Readonly<Record<keyof Tokens, StoredAmount>>;
  readonly reserved: StoredAmount;
}

/** Nothing was sent. */
export interface LlmCallRefused extends CallFacts {
  readonly type: 'LlmCallRefused';
  readonly code: string;
}

/** The call was sent, and is over. */
export interface LlmCallSettled extends CallFacts {
  readonly type: 'LlmCallSettled';
  /** True: the upstream did not report its usage, and the cost is what was reserved. */
  readonly estimated: boolean;
  /** The usage that the upstream reported. */
  readonly tokens: Tokens;
  readonly cost: StoredAmount;
  readonly endedAt: string;
}

/** The upstream returned an error before any output, or could not be reached. It costs nothing. */
export interface LlmCallFailed extends CallFacts {
  readonly type: 'LlmCallFailed';
  readonly endedAt: string;
}

export type AccountLedgerEvent =
  CreditsGranted | LlmCallReserved | LlmCallRefused | LlmCallSettled | LlmCallFailed;

const TYPES: ReadonlySet<string> = new Set<AccountLedgerEvent['type']>([
  'CreditsGranted',
  'LlmCallReserved',
  'LlmCallRefused',
  'LlmCallSettled',
  'LlmCallFailed',
]);

/** The streams are named `llmAccount-acc_…`. */
export const accountLedgerCodec: EventCodec<AccountLedgerEvent> = {
  category: 'llmAccount',
  toStored: ({ type, ...data }) => ({ type, data: data as unknown as Record<string, never> }),
  fromStored: ({ type, data }) => {
    if (!TYPES.has(type))
      throw new Error(`The LLM ledger of an account holds an event of unknown type ${type}.`);
    return { type, ...data } as unknown as AccountLedgerEvent;
  },
};
