import type { TSchema } from 'typebox';
import { alternativeFor, alternativesOf, isPlainObject, keywordsOf } from './schema-keywords.js';

type Copy = (value: unknown) => unknown;

/**
 * Returns a function that copies a value without the members that `schema` does not declare, and with the defaults of
 * absent members. It does not validate: values of another type stay as they are.
 */
export const declaredPartBy = (schema: TSchema): Copy => copyBy(schema) ?? ((value) => value);

/** Undefined if the schema declares no members, so that a value needs no copy. */
const copyBy = (schema: TSchema): Copy | undefined => {
  const { properties, items, maxItems = Infinity, additionalProperties } = keywordsOf(schema);
  // Validation refuses what is not declared.
  if (additionalProperties === false) return undefined;
  if (properties !== undefined) return copyMembers(properties);
  const copyItem = items === undefined ? undefined : copyBy(items);
  if (copyItem !== undefined)
    return (value) => (Array.isArray(value) && value.length <= maxItems ? value.map(copyItem) : value);
  return copyAlternative(schema);
};

const copyAlternative = (schema: TSchema): Copy | undefined => {
  const copies = new Map(alternativesOf(schema).map((one) => [one, copyBy(one)]));
  if ([...copies.values()].every((copy) => copy === undefined)) return undefined;
  return (value) => {
    const copy = copies.get(alternativeFor(schema, value));
    return copy === undefined ? value : copy(value);
  };
};

const copyMembers = (properties: Readonly<Record<string, TSchema>>): Copy => {
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    fallback: keywordsOf(schema).default,
    copy: copyBy(schema),
  }));
  return (value) => {
    if (!isPlainObject(value)) return value;
    const copied: Record<string, unknown> = {};
    for (const { name, fallback, copy } of members) {
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      const member = given === undefined ? fallback : given;
      if (member !== undefined) copied[name] = copy === undefined ? member : copy(member);
    }
    return copied;
  };
};
