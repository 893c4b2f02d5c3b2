import Type from 'typebox';
import { isoTime, whole, withDefault } from './members.js';
import { cursor } from './page.js';
import { text } from './text.js';

/** The longest period of one request, in UTC days. */
export const MAX_USAGE_DAYS = 400;

/** The maximum number of rows on a page. */
export const MAX_USAGE_ROWS = 10_000;

/** The period, the filter and the page of every request for usage. */
export const usageMembers = {
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
    text({ max: 128 }, { description: 'Only what the end user owns with this external id.' }),
  ),
  cursor: cursor('`nextCursor` of the previous page.'),
  limit: withDefault(whole(1, MAX_USAGE_ROWS), MAX_USAGE_ROWS),
};
