import type { TextRule } from './text-rule.js';

/** The OpenAPI schema of a rule for texts. */
export const textSchema = ({ min = 1, max, pattern }: TextRule) => ({
  type: 'string' as const,
  ...(min === 0 ? {} : { minLength: min }),
  maxLength: max,
  ...(pattern === undefined ? {} : { pattern: pattern.source }),
});

/** The OpenAPI schema of `textsByKey`. */
export const textsByKeySchema = (max: number, key: TextRule, value: TextRule) => ({
  type: 'object' as const,
  propertyNames: textSchema(key),
  additionalProperties: textSchema(value),
  maxProperties: max,
});
