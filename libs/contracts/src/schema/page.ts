import Type from 'typebox';
import { whole, withDefault } from './members.js';
import type { NullWhenAbsent, Shape } from './shapes.js';
import { text } from './text.js';

/** The cursor of a list, as an earlier response returned it. */
export const cursor = (description: string) => Type.Optional(text({ max: 4_096 }, { description }));

/** The cursor and limit of a page. */
export const pageMembers = {
  cursor: cursor('`nextCursor` of the previous page.'),
  limit: withDefault(whole(1, 200), 50),
};

export const pageQuery = Type.Object(pageMembers);
export type PageQuery = Shape<typeof pageQuery>;

/** The page that a query message asks for. */
export type PageRequest = NullWhenAbsent<PageQuery>;
