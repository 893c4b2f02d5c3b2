import type { Json } from '@berth/kernel';

interface JsonObject {
  readonly [member: string]: Json | undefined;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A document without its named schemas, and those schemas by name. */
export interface Extracted {
  readonly document: Json;
  readonly schemas: Readonly<Record<string, Json>>;
}

/** Replaces each schema that has an `$id` by a reference to a schema of that name among the components. */
export const extractNamedSchemas = (document: Json): Extracted => {
  const schemas: Record<string, Json> = {};
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => visit(item));
    if (!isObject(value)) return value;
    const { $id, ...members } = value;
    const visited = Object.fromEntries(
      Object.entries(members).flatMap(([name, inner]) => (inner === undefined ? [] : [[name, visit(inner)]])),
    );
    if (typeof $id !== 'string') return visited;
    schemas[$id] = visited;
    return { $ref: `#/components/schemas/${$id}` };
  };
  return { document: visit(document), schemas };
};
