/** A date and time with a zone: without one, it would mean another moment on another machine. */
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d):\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)$/;

/** Times outside these years have no form of ISO 8601 that is as long as the others, and PostgreSQL reads none of them. */
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** Parses an ISO 8601 time to milliseconds since the Unix epoch; undefined if it is not valid. */
export const parseRunAt = (value: unknown): number | undefined => {
  const match = typeof value === 'string' ? TIME.exec(value) : null;
  if (typeof value !== 'string' || match === null) return undefined;
  const [, date = ''] = match;
  // `Date.parse` reads the 30th of February as the 2nd of March.
  if (!isDate(date)) return undefined;
  const millis = Date.parse(normal(value));
  return millis >= EARLIEST && millis <= LATEST ? millis : undefined;
};

const isDate = (date: string): boolean => {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
};

/** ISO 8601 allows a comma, more digits and a shorter offset than `Date.parse` reads everywhere. */
const normal = (value: string): string =>
  value
    .replace(',', '.')
    .replace(/(\.\d{3})\d+/, '$1')
    .replace(/([+-]\d\d)$/, '$1:00')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
