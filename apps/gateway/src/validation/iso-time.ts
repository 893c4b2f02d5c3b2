/** ISO 8601: a date, or a date and time with a zone. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Parses an ISO 8601 time to milliseconds; undefined if invalid. A date alone means its midnight in UTC. */
export const parseIsoTime = (value: unknown): number | undefined => {
  if (typeof value !== 'string' || !ISO.test(value)) return undefined;
  const millis = Date.parse(value);
  return Number.isNaN(millis) || isRolledOver(value) ? undefined : millis;
};

/** `Date.parse` reads the 30th of February as the 2nd of March. */
const isRolledOver = (text: string): boolean => {
  const day = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  return new Date(day).toISOString().slice(0, 10) !== text.slice(0, 10);
};
