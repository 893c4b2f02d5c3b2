/** A date and time with a zone: without one, it would mean another moment on another machine. */
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d):\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)$/;

/** Parses an ISO 8601 time to milliseconds since the Unix epoch; undefined if it is not valid. */
export const parseRunAt = (value: unknown): number | undefined => {
  const match = typeof value === 'string' ? TIME.exec(value) : null;
  if (typeof value !== 'string' || match === null) return undefined;
  const [, date = ''] = match;
  // `Date.parse` reads the 30th of February as the 2nd of March.
  if (!isDate(date)) return undefined;
  const millis = Date.parse(normal(value));
  return Number.isNaN(millis) ? undefined : millis;
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
