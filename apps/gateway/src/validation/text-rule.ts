/** Bounds of a text. */
export interface TextRule {
  readonly min?: number;
  readonly max: number;
  /** In UTF-8. */
  readonly maxBytes?: number;
  readonly pattern?: RegExp;
  /** Meaning of the pattern, for the error message. */
  readonly means?: string;
}

/** The problem of a text, or undefined. Lengths count UTF-16 units. NUL and lone surrogates are never valid. */
export const textProblem = (
  value: unknown,
  { min = 1, max, maxBytes, pattern, means }: TextRule,
): string | undefined => {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length < min || value.length > max) return `must be ${min} to ${max} characters long`;
  if (maxBytes !== undefined && Buffer.byteLength(value) > maxBytes)
    return `must hold at most ${maxBytes} bytes of UTF-8`;
  if (value.includes('\0') || !value.isWellFormed()) return 'must be valid Unicode without NUL characters';
  if (pattern !== undefined && !pattern.test(value)) return means ?? `must match ${pattern.source}`;
  return undefined;
};
