import Type from 'typebox';
import { isoTime, pageMembers, text, whole, type Shape } from '../schema/index.js';

/** `POST /api/v1/operations/accounts/{id}/credits`. */
export const grantCreditsBody = Type.Object(
  {
    cents: whole(-1_000_000_000_000, 1_000_000_000_000, {
      description: 'Is added to the balance; a negative number is taken away.',
    }),
    note: Type.Optional(text({ max: 1_024 }, { description: 'Why. Recorded in the audit.' })),
  },
  { $id: 'GrantCreditsBody' },
);
export type GrantCreditsBody = Shape<typeof grantCreditsBody>;

/** `GET /api/v1/llm-calls`. */
export const llmCallsQuery = Type.Object({
  agentId: Type.Optional(text({ max: 256 }, { description: 'Only calls of this agent.' })),
  from: Type.Optional(isoTime({ description: 'Only calls that began at this time or later.' })),
  to: Type.Optional(isoTime({ description: 'Only calls that began at this time or earlier.' })),
  ...pageMembers,
});
export type LlmCallsQuery = Shape<typeof llmCallsQuery>;
