/** The fields of a JSON object; none of anything else. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Whether it is a text of at most so many UTF-16 units. */
export const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most;
