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

/** An object of texts with at most `max` members. */
export const textsByName = (
  max: number,
  name: TextSchema,
  value: TextSchema,
  annotations: object = {},
): TUnsafe<Record<string, string>> =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    propertyNames: name,
    additionalProperties: value,
    maxProperties: max,
    ...annotations,
  });

/** A list of at most `max` items, which differ in their member `unique`. */
export const listWithUnique = <Item extends TSchema>(
  item: Item,
  max: number,
  unique: string & keyof Static<Item>,
): TRefine<TArray<Item>> => {
  const list: TArray<Item> = Type.Array(item, { maxItems: max, 'x-unique-by': unique });
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
 * Also accepts null. A schema with an `$id`, without a `type`, or whose values are listed becomes an alternative of
 * `anyOf`; any other gets null as an additional `type`.
 */
export const orNull = <Schema extends TSchema>(
  schema: Schema,
  annotations: object = {},
): TUnsafe<Static<Schema> | null> => {
  const { type, $id } = schema as { readonly type?: unknown; readonly $id?: unknown };
  if (type === undefined || $id !== undefined || 'enum' in schema || 'const' in schema)
    return Type.Unsafe<Static<Schema> | null>({ anyOf: [schema, Type.Null()], ...annotations });
  return withKeywords<Static<Schema> | null>(schema, { ...annotations, type: [type, 'null'] });
};

/** The same schema with one error message, which replaces those of all schemas inside it. */
export const withMessage = <Schema extends TSchema>(schema: Schema, message: string): Schema =>
  Type.Refine<Schema, unknown>(
    schema,
    () => true,
    () => message,
  ) as Schema;

/** Optional in a request; the handler gets `value` if it is absent. */
export const withDefault = <Schema extends TSchema>(schema: Schema, value: Static<Schema>): Schema =>
  Type.Optional(withKeywords<Static<Schema>>(schema, { default: value })) as unknown as Schema;

/**
 * A copy with further keywords. Refinements are not keywords: TypeBox keeps them in a hidden member, which a spread
 * does not copy.
 */
const withKeywords = <Value>(schema: TSchema, keywords: object): TUnsafe<Value> => {
  const copy = Type.Unsafe<Value>({ ...schema, ...keywords });
  if (!Type.IsRefine(schema)) return copy;
  return schema['~refine'].reduce<TUnsafe<Value>>(
    (refined, { check, error }) =>
      Type.Refine<TUnsafe<Value>, unknown>(refined, (value) => value === null || check(value), error),
    copy,
  );
};
