import Type from 'typebox';
import { isoTime, pageMembers, text, whole, withMessage, type Shape } from '../schema/index.js';

/** In one grant, or taken away by one. */
const MOST_CENTS = 1_000_000_000_000;

/** `POST /api/v1/operations/accounts/{id}/credits`. */
export const grantCreditsBody = Type.Object(
  {
    cents: withMessage(
      whole(-MOST_CENTS, MOST_CENTS, {
        not: { const: 0 },
        description: 'Is added to the balance; a negative number is taken away. Not 0.',
      }),
      `must be a whole number from ${-MOST_CENTS} to ${MOST_CENTS} other than 0`,
    ),
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
