import Type from 'typebox';
import { cursor, isoTime, text, whole, withDefault, type Shape } from '../schema/index.js';

/** The longest period of one request, in UTC days. */
export const MAX_USAGE_DAYS = 400;

/** The maximum number of rows on a page. */
export const MAX_USAGE_ROWS = 10_000;

/** `GET /api/v1/usage` and `GET /api/v1/usage/daily`. */
export const usageQuery = Type.Object({
  from: Type.Optional(
    isoTime({
      description: 'Rounded down to midnight UTC. By default 30 days before `to`.',
    }),
  ),
  to: Type.Optional(
    isoTime({
      description: `Exclusive; rounded up to midnight UTC. By default now. At most ${MAX_USAGE_DAYS} days after \`from\`.`,
    }),
  ),
  externalUserId: Type.Optional(
    text({ max: 128 }, { description: 'Only agents of the end user with this external id.' }),
  ),
  agentId: Type.Optional(text({ max: 64 }, { description: 'Only this agent.' })),
  cursor: cursor('`nextCursor` of the previous page.'),
  limit: withDefault(whole(1, MAX_USAGE_ROWS), MAX_USAGE_ROWS),
});
export type UsageQuery = Shape<typeof usageQuery>;

/** `GET /api/v1/operations/usage-recount`. */
export const usageRecountQuery = Type.Object({
  from: usageQuery.properties.from,
  to: usageQuery.properties.to,
});
export type UsageRecountQuery = Shape<typeof usageRecountQuery>;
