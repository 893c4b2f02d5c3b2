import Type, {
  type Static,
  type TArray,
  type TInteger,
  type TNumber,
  type TRefine,
  type TSchema,
  type TUnsafe,
} from 'typebox';
import type { TextSchema } from './text.js';

/** A whole number from `minimum` to `maximum`. */
export const whole = (minimum: number, maximum: number, annotations: object = {}): TInteger =>
  Type.Integer({ minimum, maximum, ...annotations });

/** A number from `minimum` to `maximum`. */
export const number = (minimum: number, maximum: number, annotations: object = {}): TNumber =>
  Type.Number({ minimum, maximum, ...annotations });

/** One of these texts. */
export const oneOf = <const Value extends string>(
  values: readonly Value[],
  annotations: object = {},
): TUnsafe<Value> => Type.Unsafe<Value>({ type: 'string', enum: [...values], ...annotations });

/** A time in ISO 8601 with its zone, or a date, which means its midnight in UTC. */
export const isoTime = (annotations: object = {}): TUnsafe<string> =>
  Type.Unsafe<string>({ type: 'string', format: 'date-time', ...annotations });

/** An object of texts with at most `most` members. */
export const textsByName = (
  most: number,
  name: TextSchema,
  value: TextSchema,
  annotations: object = {},
): TUnsafe<Record<string, string>> =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    propertyNames: name,
    additionalProperties: value,
    maxProperties: most,
    ...annotations,
  });

/** A list of at most `most` items, which differ in their member `unique`. */
export const listWithUnique = <Item extends TSchema>(
  item: Item,
  most: number,
  unique: string & keyof Static<Item>,
): TRefine<TArray<Item>> => {
  const list: TArray<Item> = Type.Array(item, { maxItems: most, 'x-unique-by': unique });
  const isUnique = (items: unknown): boolean => {
    if (!Array.isArray(items)) return true;
    const values = items.map((one: Readonly<Record<string, unknown>>) => one[unique]);
    return new Set(values).size === values.length;
  };
  return Type.Refine(list, isUnique, () => `must have different values of ${unique}`) as TRefine<
    TArray<Item>
  >;
};

/**
 * Accepts null too. A schema with a name or without a type becomes an alternative; in any other, null is one more type.
 */
export const orNull = <Schema extends TSchema>(
  schema: Schema,
  annotations: object = {},
): TUnsafe<Static<Schema> | null> => {
  const { type, $id } = schema as { readonly type?: unknown; readonly $id?: unknown };
  if (type === undefined || $id !== undefined)
    return Type.Unsafe<Static<Schema> | null>({ anyOf: [schema, Type.Null()], ...annotations });
  return withKeywords<Static<Schema> | null>(schema, { ...annotations, type: [type, 'null'] });
};

/** Judged by its keywords alone, but with a message of its own, which covers all inside it. */
export const withMessage = <Schema extends TSchema>(schema: Schema, message: string): Schema =>
  Type.Refine<Schema, unknown>(
    schema,
    () => true,
    () => message,
  ) as Schema;

/** Optional in a request; a handler gets `value` in its place. */
export const withDefault = <Schema extends TSchema>(schema: Schema, value: Static<Schema>): Schema =>
  Type.Optional(withKeywords<Static<Schema>>(schema, { default: value })) as unknown as Schema;

/** A copy with further keywords. Refinements are no keywords: TypeBox keeps them in a hidden member. */
const withKeywords = <Value>(schema: TSchema, keywords: object): TUnsafe<Value> => {
  const copy = Type.Unsafe<Value>({ ...schema, ...keywords });
  if (!Type.IsRefine(schema)) return copy;
  return schema['~refine'].reduce<TUnsafe<Value>>(
    (refined, { check, error }) =>
      Type.Refine<TUnsafe<Value>, unknown>(refined, (value) => value === null || check(value), error),
    copy,
  );
};
