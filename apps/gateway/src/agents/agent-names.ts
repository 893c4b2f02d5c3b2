import type { TextRule } from '../validation/text-rule.js';

/** Letters, digits, space and `_ @ . : + -`. */
export const AGENT_NAME: TextRule = {
  max: 128,
  pattern: /^[A-Za-z0-9 _@.:+-]+$/,
  means: 'may hold letters, digits, space and _ @ . : + - only',
};

/** The caller's own identifier of an agent: any text of one line. */
export const EXTERNAL_ID: TextRule = {
  max: 256,
  pattern: /^[^\p{Cc}]+$/u,
  means: 'must not hold control characters',
};

/** An end user's external id. */
export const EXTERNAL_USER_ID: TextRule = {
  max: 128,
  pattern: /^[A-Za-z0-9_@.:+-]+$/,
  means: 'may hold letters, digits and _ @ . : + - only',
};

/** Label names fit into the filter `label=name=value`. */
export const LABEL_NAME: TextRule = {
  max: 64,
  pattern: /^[A-Za-z0-9][A-Za-z0-9._/-]*$/,
  means: 'may hold letters, digits and . _ / - only and begins with a letter or digit',
};

export const LABEL_VALUE: TextRule = { min: 0, max: 256 };
export const MOST_LABELS = 64;
