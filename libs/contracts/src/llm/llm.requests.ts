import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent } from '../schema/index.js';
import type { GrantCreditsBody, LlmCallsQuery } from './llm.schemas.js';

/** The protocols of the route, by the provider that made each. */
export const LLM_DIALECTS = ['openai', 'anthropic'] as const;
export type LlmDialect = (typeof LLM_DIALECTS)[number];

/**
 * `open`: not over. `settled`: the upstream reported its usage. `estimated`: it did not, and the call costs what was
 * reserved. `refused`: nothing was sent. `failed`: the upstream returned an error before any output, at no cost.
 */
export const LLM_CALL_STATUSES = ['settled', 'estimated', 'refused', 'failed', 'open'] as const;
export type LlmCallStatus = (typeof LLM_CALL_STATUSES)[number];

/** A call. Times are ISO 8601. */
export interface LlmCallView {
  readonly id: string;
  readonly agentId: string;
  /** Internal id of the end user of the agent; null without one. */
  readonly endUserId: string | null;
  readonly model: string;
  readonly dialect: LlmDialect;
  readonly status: LlmCallStatus;
  /** All input, cached and cache-written tokens included. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  /** Millionths of a cent, decimal. */
  readonly cost: string;
  /** Millionths of a cent, decimal. */
  readonly reserved: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** `from` and `to` are ISO 8601 and inclusive; of the beginning of a call. */
export interface ListLlmCalls extends NullWhenAbsent<LlmCallsQuery> {
  readonly accountId: string;
}

/** `accountId` is the account of the operator's key, `id` the account that is credited. */
export interface GrantCredits extends CommandEnvelope, NullWhenAbsent<GrantCreditsBody> {
  readonly id: string;
}

/** Millionths of a cent, decimal; null: no credits are counted. */
export interface Balance {
  readonly balance: string | null;
}

export interface GetLlmSpend {
  readonly endUserId: string;
  /** A time in the month, ISO 8601. */
  readonly at: string;
}

/** Millionths of a cent, decimal. */
export interface LlmSpend {
  /** The cost of the calls that are over. */
  readonly settled: string;
  /** The amount that is reserved for open calls. */
  readonly reserved: string;
}

export interface GetLlmRefusal {
  readonly agentId: string;
  /** ISO 8601. */
  readonly since: string;
}

/** The requests that `llm` handles. */
export const llmRequests = {
  /** The HTTP origin of the route, such as `http://127.0.0.1:4100`. Each process returns its own. */
  endpoint: defineRequest<Record<string, never>, { readonly url: string }>('qry.llm.endpoint.v1', 4_700),
  /** Newest first. Errors: invalid `invalid_request` for a malformed cursor. */
  calls: defineRequest<ListLlmCalls, Page<LlmCallView>>('qry.llm.calls.v1'),
  /** Errors: not_found `account_not_found`. The same command id grants once. */
  grantCredits: defineRequest<GrantCredits, Balance>('cmd.llm.grant-credits.v1'),
  balance: defineRequest<{ readonly accountId: string }, Balance>('qry.llm.balance.v1'),
  /** What an end user has spent in a UTC month. */
  spend: defineRequest<GetLlmSpend, LlmSpend>('qry.llm.spend.v1'),
  /** The code with which a cap or a suspension last refused a call of an agent; null if none did since then. */
  refusal: defineRequest<GetLlmRefusal, { readonly code: string | null }>('qry.llm.refusal.v1', 4_700),
};
