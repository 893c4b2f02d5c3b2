import type { Json } from '@berth/kernel';

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 uses it. */
export interface JsonSchema {
  readonly [keyword: string]: Json | undefined;
}

/** A schema for every member of a view, so that the compiler rejects a new member without a schema. */
export type MembersOf<View> = { readonly [Member in keyof View]-?: JsonSchema };

export const text: JsonSchema = { type: 'string' };
export const textOrNull: JsonSchema = { type: ['string', 'null'] };
export const time: JsonSchema = { type: 'string', format: 'date-time' };
export const timeOrNull: JsonSchema = { type: ['string', 'null'], format: 'date-time' };
export const integer: JsonSchema = { type: 'integer' };
export const number: JsonSchema = { type: 'number' };
export const integerOrNull: JsonSchema = { type: ['integer', 'null'] };
export const numberOrNull: JsonSchema = { type: ['number', 'null'] };
export const bool: JsonSchema = { type: 'boolean' };
export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

export const object = (
  properties: { readonly [member: string]: JsonSchema },
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((member) => !optional.includes(member)),
});

export const view = <View>(properties: MembersOf<View>, optional: readonly string[] = []): JsonSchema =>
  object(properties, optional);

export const page = (name: string): JsonSchema =>
  object({
    items: list(ref(name)),
    nextCursor: { ...textOrNull, description: 'Opaque; null on the last page.' },
  });
