import Type, { type TRefine, type TString } from 'typebox';

/** Bounds of a text. Lengths count UTF-16 units. */
export interface TextBounds {
  /** By default 1. */
  readonly min?: number;
  readonly max: number;
  /** In UTF-8. */
  readonly maxBytes?: number;
  readonly pattern?: RegExp;
  /** Meaning of the pattern, for the error message. */
  readonly means?: string;
}

export type TextSchema = TRefine<TString>;

/**
 * A string within bounds. NUL and lone surrogates are never valid. JSON Schema counts code points, so the exact length
 * is checked besides the keywords.
 */
export const text = (bounds: TextBounds, annotations: object = {}): TextSchema => {
  const { min = 1, max, maxBytes, pattern } = bounds;
  const schema = Type.String({
    ...(min === 0 ? {} : { minLength: min }),
    maxLength: max,
    ...(maxBytes === undefined ? {} : { 'x-max-bytes': maxBytes }),
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
    ...annotations,
  });
  return Type.Refine(
    schema,
    (value) => sizeOrUnicodeProblem(value, bounds) === undefined,
    (value) => textProblem(value, bounds) ?? 'is not valid',
  );
};

/** Why a value is not a text within `bounds`; undefined if it is. */
const textProblem = (value: unknown, bounds: TextBounds): string | undefined => {
  if (typeof value !== 'string') return 'must be a string';
  const { pattern, means } = bounds;
  const problem = sizeOrUnicodeProblem(value, bounds);
  if (problem !== undefined || pattern === undefined || pattern.test(value)) return problem;
  return means ?? `must match ${pattern.source}`;
};

const sizeOrUnicodeProblem = (value: string, { min = 1, max, maxBytes }: TextBounds): string | undefined => {
  if (value.length < min || value.length > max) return `must be ${min} to ${max} characters long`;
  if (maxBytes !== undefined && exceeds(value, maxBytes))
    return `must contain at most ${maxBytes} bytes of UTF-8`;
  return isStorable(value) ? undefined : 'must be valid Unicode without NUL characters';
};

/** Whether Postgres can store the text: it contains neither NUL nor a lone surrogate. */
export const isStorable = (value: string): boolean => !value.includes('\0') && value.isWellFormed();

/** A UTF-16 unit takes at most three bytes, so most texts need not be encoded. */
const exceeds = (value: string, maxBytes: number): boolean =>
  value.length * 3 > maxBytes && utf8Bytes(value) > maxBytes;

const encoder = new TextEncoder();

/** Length in UTF-8. */
export const utf8Bytes = (value: string): number => encoder.encode(value).length;
