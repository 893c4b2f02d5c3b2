import Type, { type TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import type { FieldProblem } from '../http/http-refusal.js';
import {
  alternativeFor,
  alternativesOf,
  isPlainObject,
  keywordsOf,
  type Keywords,
} from './schema-keywords.js';

const MAX_NAME_CHARS = 128;
/** Unknown members beyond this number are not listed. */
const MAX_UNKNOWN = 20;

/**
 * Every invalid field of `value`, at `path` and below. A list or object with too many items is one problem; its items
 * are not validated.
 */
export const fieldProblems = (schema: TSchema, value: unknown, path = ''): readonly FieldProblem[] => {
  const keywords = keywordsOf(schema);
  if (isWhole(schema) || (value === null && [keywords.type].flat().includes('null')))
    return Check(schema, value) ? [] : [{ path, message: messageFor(schema, value) }];
  if (keywords.properties !== undefined) return objectProblems(keywords, value, path);
  if (keywords.propertyNames !== undefined) return mapProblems(keywords, value, path);
  if (keywords.items !== undefined) return listProblems(keywords, value, path);
  return fieldProblems(alternativeFor(schema, value), value, path);
};

/**
 * Whether the schema validates the value as a whole, so that its problem has the path of the value. True for a
 * refinement, unless it compares the items of a list.
 */
const isWhole = (schema: TSchema): boolean => {
  const { properties, propertyNames, items, 'x-unique-by': unique } = keywordsOf(schema);
  if (Type.IsRefine(schema) && unique === undefined) return true;
  return (
    [properties, propertyNames, items].every((inner) => inner === undefined) &&
    alternativesOf(schema).length === 0
  );
};

const objectProblems = (
  { properties = {}, required = [], additionalProperties }: Keywords,
  value: unknown,
  path: string,
): readonly FieldProblem[] => {
  if (!isPlainObject(value)) return [{ path, message: 'must be an object' }];
  const unknown = additionalProperties === false ? undeclared(properties, value) : [];
  const declared = Object.entries(properties).flatMap(([name, schema]) => {
    const member = value[name];
    if (member === undefined && !required.includes(name)) return [];
    return fieldProblems(schema, member, below(path, name));
  });
  return [
    ...declared,
    ...unknown.map((name) => ({
      path: below(path, name.slice(0, MAX_NAME_CHARS)),
      message: 'is not a known member',
    })),
  ];
};

const undeclared = (properties: object, value: object): readonly string[] =>
  Object.keys(value)
    .filter((name) => !Object.hasOwn(properties, name))
    .slice(0, MAX_UNKNOWN);

const mapProblems = (
  { propertyNames = {}, additionalProperties, maxProperties = Infinity }: Keywords,
  value: unknown,
  path: string,
): readonly FieldProblem[] => {
  if (!isPlainObject(value)) return [{ path, message: 'must be an object of strings' }];
  const entries = Object.entries(value);
  if (entries.length > maxProperties)
    return [{ path, message: `must contain at most ${maxProperties} members` }];
  return entries.flatMap(([name, member]) => {
    const at = below(path, name.slice(0, MAX_NAME_CHARS));
    if (Check(propertyNames, name))
      return fieldProblems(additionalProperties === false ? {} : (additionalProperties ?? {}), member, at);
    return [{ path: at, message: `the name ${messageFor(propertyNames, name)}` }];
  });
};

const listProblems = (keywords: Keywords, value: unknown, path: string): readonly FieldProblem[] => {
  const { items = {}, maxItems = Infinity, 'x-unique-by': unique } = keywords;
  if (!Array.isArray(value)) return [{ path, message: 'must be a list' }];
  if (value.length > maxItems) return [{ path, message: `must contain at most ${maxItems} items` }];
  const problems = value.flatMap((item, index) => fieldProblems(items, item, below(path, String(index))));
  return unique === undefined ? problems : [...problems, ...repetitions(value, unique, path)];
};

const repetitions = (items: readonly unknown[], member: string, path: string): readonly FieldProblem[] => {
  const values = items.map((item) => (isPlainObject(item) ? item[member] : undefined));
  return values.flatMap((value, index) => {
    const isRepeated = typeof value === 'string' && values.indexOf(value) < index;
    return isRepeated ? [{ path: `${path}.${index}.${member}`, message: 'is given twice' }] : [];
  });
};

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const messageFor = (schema: TSchema, value: unknown): string => {
  const refinement = Type.IsRefine(schema) ? schema['~refine'][0] : undefined;
  if (refinement !== undefined) return refinement.error(value);
  const { type, format, enum: values, minimum, maximum } = keywordsOf(schema);
  if (values !== undefined) return `must be one of ${values.join(', ')}`;
  if (format === 'date-time') return 'must be an ISO 8601 time such as 2026-01-31T12:00:00.000Z';
  const types = [type].flat();
  if (types.includes('array')) return 'must be a list';
  if (types.includes('boolean')) return 'must be true or false';
  if (types.includes('integer')) return `must be a whole number from ${minimum} to ${maximum}`;
  if (types.includes('number')) return `must be a number from ${minimum} to ${maximum}`;
  return types.includes('string') ? 'must be a string' : 'is not valid';
};
