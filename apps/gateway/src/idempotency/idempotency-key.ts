import type { TextRule } from '../validation/text-rule.js';

/** The header `Idempotency-Key`. */
export const IDEMPOTENCY_KEY: TextRule = {
  max: 255,
  pattern: /^[\x20-\x7e]+$/,
  means: 'must be 1 to 255 printable ASCII characters',
};
