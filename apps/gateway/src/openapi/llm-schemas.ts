import { LLM_CALL_STATUSES, LLM_DIALECTS } from '@berth/contracts/llm';
import type { AccountBalance } from '../llm/credits.controller.js';
import type { LlmCall } from '../llm/llm-calls.controller.js';
import { page, text, textOrNull, time, timeOrNull, view, type JsonSchema } from './json-schema.js';

const tokens: JsonSchema = { type: 'integer', minimum: 0 };
const cents: JsonSchema = { type: 'number', description: 'In cents, with up to 6 decimals.' };

/** The schemas of responses about LLM calls and credits. */
export const LLM_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  LlmCall: view<LlmCall>({
    id: { ...text, examples: ['llm_01jd2m3k4n5p6q7r8s9t0v1w2x'] },
    agentId: text,
    externalUserId: { ...textOrNull, description: 'Null once the end user is deleted.' },
    model: text,
    dialect: { enum: [...LLM_DIALECTS] },
    status: { enum: [...LLM_CALL_STATUSES] },
    inputTokens: tokens,
    cachedInputTokens: tokens,
    outputTokens: tokens,
    costCents: cents,
    reservedCents: cents,
    startedAt: time,
    endedAt: timeOrNull,
  }),
  LlmCallPage: page('LlmCall'),
  AccountBalance: view<AccountBalance>({
    accountId: text,
    balanceCents: { type: ['number', 'null'], description: 'Null: no credits are counted.' },
  }),
};
