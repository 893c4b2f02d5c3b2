import { DomainError, type Json } from '@berth/kernel';

/** Encodes the end of a page as an opaque, URL-safe string. */
export const encodeCursor = (value: Json): string =>
  Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');

/**
 * Decodes a cursor. Throws `DomainError('invalid', 'invalid_request')` naming the field `cursor` for anything that
 * `encodeCursor` did not write or that `fits` rejects.
 */
export const decodeCursor = <T>(cursor: string, fits: (value: unknown) => boolean = () => true): T => {
  const value = parse(cursor);
  if (value === undefined || !fits(value)) throw badCursor();
  return value as T;
};

const parse = (cursor: string): unknown => {
  if (cursor.length > 4_096 || !/^[A-Za-z0-9_-]+$/.test(cursor)) return undefined;
  try {
    const text = Buffer.from(cursor, 'base64url').toString('utf8');
    // No valid cursor contains a NUL, and PostgreSQL accepts none in a text.
    return text.includes(String.raw`\u0000`) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

const badCursor = (): DomainError => {
  const message = 'Use the nextCursor of an earlier response, unchanged.';
  return new DomainError('invalid', 'invalid_request', message, { fields: [{ path: 'cursor', message }] });
};
