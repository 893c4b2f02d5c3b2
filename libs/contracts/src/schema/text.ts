import Type, { type TRefine, type TString } from 'typebox';

/** Bounds of a text. Lengths count characters, which are Unicode code points. */
export interface TextBounds {
  /** By default 1. */
  readonly min?: number;
  readonly max: number;
  /** In UTF-16 units. */
  readonly maxUnits?: number;
  /** In UTF-8. */
  readonly maxBytes?: number;
  readonly pattern?: RegExp;
  /** Meaning of the pattern, for the error message. */
  readonly means?: string;
}

export type TextSchema = TRefine<TString>;

/** A string within bounds. NUL and lone surrogates are never valid. */
export const text = (bounds: TextBounds, annotations: object = {}): TextSchema => {
  const { min = 1, max, maxUnits, maxBytes, pattern } = bounds;
  const schema = Type.String({
    ...(min === 0 ? {} : { minLength: min }),
    maxLength: max,
    ...(maxUnits === undefined ? {} : { 'x-max-utf16-units': maxUnits }),
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

const sizeOrUnicodeProblem = (value: string, bounds: TextBounds): string | undefined => {
  const { min = 1, max, maxUnits, maxBytes } = bounds;
  if (!hasLength(value, min, max)) return `must be ${min} to ${max} characters long`;
  if (maxUnits !== undefined && value.length > maxUnits)
    return `must be at most ${maxUnits} UTF-16 units long`;
  if (maxBytes !== undefined && exceeds(value, maxBytes))
    return `must contain at most ${maxBytes} bytes of UTF-8`;
  return isStorable(value) ? undefined : 'must be valid Unicode without NUL characters';
};

/** Whether Postgres can store the text: it contains neither NUL nor a lone surrogate. */
export const isStorable = (value: string): boolean => !value.includes('\0') && value.isWellFormed();

/** Whether a text has `min` to `max` characters. One of them takes one or two UTF-16 units, so few texts are counted. */
export const hasLength = (value: string, min: number, max: number): boolean => {
  const units = value.length;
  if (units < min || units > 2 * max) return false;
  if (units >= 2 * min && units <= max) return true;
  const characters = countCharacters(value);
  return characters >= min && characters <= max;
};

const countCharacters = (value: string): number => {
  let count = 0;
  for (const _character of value) count += 1;
  return count;
};

/** A UTF-16 unit takes at most three bytes, so most texts need not be encoded. */
const exceeds = (value: string, maxBytes: number): boolean =>
  value.length * 3 > maxBytes && utf8Bytes(value) > maxBytes;

const encoder = new TextEncoder();

/** Length in UTF-8. */
export const utf8Bytes = (value: string): number => encoder.encode(value).length;
