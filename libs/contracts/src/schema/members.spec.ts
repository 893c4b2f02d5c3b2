import Type, { type TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { oneOf, orNull, whole } from './members.js';
import { text } from './text.js';

const SCHEMAS: readonly (readonly [string, TSchema, unknown, unknown])[] = [
  ['a number', whole(1, 3), 3, 4],
  ['a text with more rules than its keywords', text({ max: 3 }), 'abc', 'a\0'],
  ['one of some texts', oneOf(['a', 'b']), 'b', 'c'],
  ['a literal', Type.Literal('a'), 'a', 'b'],
  ['alternatives', Type.Union([Type.Literal('a'), whole(1, 3)]), 1, 'b'],
  ['a named schema', Type.String({ $id: 'Name', maxLength: 1 }), 'a', 'ab'],
];

describe('a schema that also accepts null', () => {
  it.each(SCHEMAS)(
    'of %s accepts it, and nothing else that the schema refuses',
    (_, schema, valid, invalid) => {
      const nullable = orNull(schema);
      expect([null, valid, invalid].map((value) => Check(nullable, value))).toEqual([true, true, false]);
    },
  );
});
