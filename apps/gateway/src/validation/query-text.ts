import type { TSchema } from 'typebox';
import { isPlainObject, keywordsOf } from './schema-keywords.js';

/** The members of a parsed query string, numbers and booleans converted from their text. */
export const convertedQuery = (schema: TSchema, query: unknown): Readonly<Record<string, unknown>> => {
  if (!isPlainObject(query)) return {};
  const members: Record<string, unknown> = { ...query };
  for (const [name, member] of Object.entries(keywordsOf(schema).properties ?? {}))
    members[name] = converted(keywordsOf(member).type, members[name]);
  return members;
};

/** Leaves a text that cannot be converted unchanged, so that the schema of the member rejects it. */
const converted = (type: unknown, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (type === 'integer') return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (type === 'number') return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : value;
  if (type !== 'boolean') return value;
  if (value === 'true') return true;
  return value === 'false' ? false : value;
};
