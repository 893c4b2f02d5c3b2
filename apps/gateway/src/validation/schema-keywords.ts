import type { TSchema } from 'typebox';

/** The keywords of a schema that the gateway evaluates. */
export interface Keywords {
  readonly $id?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: TSchema;
  /** false: members that are not declared are refused, not ignored. */
  readonly additionalProperties?: TSchema | false;
  readonly maxProperties?: number;
  readonly items?: TSchema;
  readonly maxItems?: number;
  readonly 'x-unique-by'?: string;
  readonly anyOf?: readonly TSchema[];
  readonly oneOf?: readonly TSchema[];
}

export const keywordsOf = (schema: TSchema): Keywords => schema;

/** The alternatives of a schema; a value must match one of them. */
export const alternativesOf = (schema: TSchema): readonly TSchema[] => {
  const { anyOf, oneOf } = keywordsOf(schema);
  return anyOf ?? oneOf ?? [];
};

/** The alternative that has the type of `value`; the first if none has, and the schema itself if it has none. */
export const alternativeFor = (schema: TSchema, value: unknown): TSchema => {
  const alternatives = alternativesOf(schema);
  return alternatives.find((one) => hasTypeOf(one, value)) ?? alternatives[0] ?? schema;
};

const hasTypeOf = (schema: TSchema, value: unknown): boolean => {
  const { type } = keywordsOf(schema);
  if (type === undefined) return alternativesOf(schema).some((one) => hasTypeOf(one, value));
  return [type].flat().includes(typeNameOf(value));
};

const typeNameOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

/** Whether `value` came from a JSON object. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
