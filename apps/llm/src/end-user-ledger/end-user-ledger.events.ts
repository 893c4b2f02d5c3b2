import type { EventCodec } from '@berth/event-store';
import type { StoredAmount } from '../ledger/stored-amount.js';

/** Part of the month's cap is kept for a call. Amounts are decimal millionths of a cent, times ISO 8601. */
export interface LlmSpendReserved {
  readonly type: 'LlmSpendReserved';
  readonly callId: string;
  readonly amount: StoredAmount;
  /** The cap that was in force; null: none. */
  readonly cap: StoredAmount | null;
  /** The process that holds the connections of the call. */
  readonly instance: string;
  readonly at: string;
}

/** The call is over, and cost this; 0 if it was refused after all. */
export interface LlmSpendSettled {
  readonly type: 'LlmSpendSettled';
  readonly callId: string;
  readonly cost: StoredAmount;
  readonly at: string;
}

/** So much of the cap is used; once in a month for each threshold. */
export interface CapThresholdReached {
  readonly type: 'CapThresholdReached';
  readonly endUserId: string;
  readonly cap: 'llm_spend_cap_cents_per_month';
  /** The first day of the month in UTC: `2026-11-01`. */
  readonly period: string;
  readonly percent: number;
  readonly at: string;
}

export type EndUserLedgerEvent = LlmSpendReserved | LlmSpendSettled | CapThresholdReached;

const TYPES: ReadonlySet<string> = new Set<EndUserLedgerEvent['type']>([
  'LlmSpendReserved',
  'LlmSpendSettled',
  'CapThresholdReached',
]);

/** The streams are named `llmEndUser-eus_….2026-11`: one for each month. */
export const endUserLedgerCodec: EventCodec<EndUserLedgerEvent> = {
  category: 'llmEndUser',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (!TYPES.has(type))
      throw new Error(`The LLM ledger of an end user holds an event of unknown type ${type}.`);
    return { type, ...data } as unknown as EndUserLedgerEvent;
  },
};

/** The id of the ledger of the month in which a call began. */
export const endUserLedgerId = (endUserId: string, startedAt: string): string =>
  `${endUserId}.${startedAt.slice(0, 7)}`;

/** The end user and the month (`2026-11`) of a ledger. */
export const partsOfLedgerId = (id: string): { readonly endUserId: string; readonly month: string } => {
  const [endUserId = '', month = ''] = id.split('.');
  return { endUserId, month };
};
