import Type from 'typebox';
import { cursor, isoTime, text, whole, withDefault, type Shape } from '../schema/index.js';

/** The most UTC days that one request can be about. */
export const MAX_USAGE_DAYS = 400;

/** The most rows of one page. */
export const MAX_USAGE_ROWS = 10_000;

/** `GET /api/v1/usage` and `GET /api/v1/usage/daily`. */
export const usageQuery = Type.Object({
  from: Type.Optional(
    isoTime({
      description: 'Taken back to midnight UTC. By default 30 days before `to`.',
    }),
  ),
  to: Type.Optional(
    isoTime({
      description: `Exclusive; taken forward to midnight UTC. By default now. At most ${MAX_USAGE_DAYS} days after \`from\`.`,
    }),
  ),
  externalUserId: Type.Optional(
    text({ max: 128 }, { description: 'Only agents of the end user with this external id.' }),
  ),
  agentId: Type.Optional(text({ max: 64 }, { description: 'Only this agent.' })),
  cursor: cursor('`nextCursor` of the previous page.'),
  limit: withDefault(whole(1, MAX_USAGE_ROWS), MAX_USAGE_ROWS),
});
/** `GET /api/v1/operations/usage-recount`. */
export const usageRecountQuery = Type.Object({
  from: usageQuery.properties.from,
  to: usageQuery.properties.to,
});
export type UsageRecountQuery = Shape<typeof usageRecountQuery>;

export type UsageQuery = Shape<typeof usageQuery>;
