import type { TextBounds } from './text.js';

/** The name of an agent or a computer: letters, digits, space and `_ @ . : + -`. */
export const RESOURCE_NAME = {
  max: 128,
  pattern: /^[A-Za-z0-9 _@.:+-]+$/,
  means: 'may contain letters, digits, space and _ @ . : + - only',
} as const satisfies TextBounds;
