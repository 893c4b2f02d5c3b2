/** The fields of a JSON object; empty for any other value. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Whether the value is a string of at most `most` UTF-16 units. */
export const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most;
