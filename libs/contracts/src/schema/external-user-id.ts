import type { TextBounds } from './text.js';

/**
 * The caller's own id of an end user. In a URL `.` and `..` name a folder however they are encoded: a request that named
 * such an end user would reach another resource.
 */
export const EXTERNAL_USER_ID = {
  max: 128,
  pattern: /^(?!\.{1,2}$)[A-Za-z0-9_@.:+-]+$/,
  means: 'may contain letters, digits and _ @ . : + - only, and must not be . or ..',
} as const satisfies TextBounds;

/** Whether a text can be the external id of an end user. */
export const isExternalUserId = (value: string): boolean =>
  value.length <= EXTERNAL_USER_ID.max && EXTERNAL_USER_ID.pattern.test(value);
