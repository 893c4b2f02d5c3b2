import Type from 'typebox';
import { text, usageMembers, type Shape } from '../schema/index.js';

/** `GET /api/v1/usage` and `GET /api/v1/usage/daily`. */
export const usageQuery = Type.Object({
  ...usageMembers,
  agentId: Type.Optional(text({ max: 64 }, { description: 'Only this agent.' })),
});
export type UsageQuery = Shape<typeof usageQuery>;

/** `GET /api/v1/operations/usage-recount`. */
export const usageRecountQuery = Type.Object({
  from: usageMembers.from,
  to: usageMembers.to,
});
export type UsageRecountQuery = Shape<typeof usageRecountQuery>;
