import type { Json } from '@berth/kernel';

interface JsonObject {
  readonly [member: string]: Json | undefined;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Converts `nullable: true` of OpenAPI 3.0 into its form in 3.1: `null` is one more type, one more value of an
 * enumeration, one more alternative.
 */
export const toOpenApi31 = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => toOpenApi31(item));
  if (!isObject(value)) return value;
  const members: { [member: string]: Json } = {};
  for (const [member, inner] of Object.entries(value))
    if (inner !== undefined) members[member] = toOpenApi31(inner);
  return withNull(withExclusiveBounds(members));
};

/** The flag next to the bound becomes the bound itself. */
const withExclusiveBounds = (schema: { [member: string]: Json }): { [member: string]: Json } => {
  const { exclusiveMinimum, minimum, ...rest } = schema;
  return exclusiveMinimum === true && typeof minimum === 'number'
    ? { ...rest, exclusiveMinimum: minimum }
    : schema;
};

const withNull = (members: { [member: string]: Json }): Json => {
  if (members['nullable'] === undefined) return members;
  const { nullable, ...schema } = members;
  if (nullable !== true) return schema;
  const { type, oneOf, allOf, enum: values, $ref } = schema;
  if (Array.isArray(oneOf)) return { ...schema, oneOf: [...oneOf, { type: 'null' }] };
  if (Array.isArray(allOf) || $ref !== undefined) {
    const { allOf: _all, $ref: _ref, ...rest } = schema;
    const alternatives = Array.isArray(allOf) ? allOf : [{ $ref: $ref ?? '' }];
    return { ...rest, anyOf: [...alternatives, { type: 'null' }] };
  }
  return {
    ...schema,
    ...(typeof type === 'string' ? { type: [type, 'null'] } : {}),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
};
