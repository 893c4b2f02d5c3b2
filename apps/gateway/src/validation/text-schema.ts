import type { TextRule } from './text-rule.js';

/** A rule for texts as OpenAPI says it. */
export const textSchema = ({ min = 1, max, pattern }: TextRule) => ({
  type: 'string' as const,
  ...(min === 0 ? {} : { minLength: min }),
  maxLength: max,
  ...(pattern === undefined ? {} : { pattern: pattern.source }),
});

/** What `textsByKey` checks, as OpenAPI says it. */
export const textsByKeySchema = (max: number, key: TextRule, value: TextRule) => ({
  type: 'object' as const,
  propertyNames: textSchema(key),
  additionalProperties: textSchema(value),
  maxProperties: max,
});
