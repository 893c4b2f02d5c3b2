/** Runs one SQL statement. Numeric and bigint columns arrive as strings, dates as `Date`. */
export interface SqlRunner {
  /** Returns the rows (of `RETURNING` too). Values are passed as `$1`, `$2`…, never inside the text. */
  query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]>;
}

/** The subset of a `pg` client that one statement needs; pool clients and dedicated clients both satisfy it. */
export interface StatementClient {
  query(config: {
    text: string;
    values: unknown[];
    name?: string;
    query_timeout?: number;
  }): Promise<{ rows: unknown[] }>;
}

/**
 * Sends one statement; `timeoutMs` is how long this process waits for the result, `name` prepares it under that name.
 */
export const runStatement = async <Row>(
  client: StatementClient,
  sql: string,
  params: readonly unknown[] = [],
  timeoutMs?: number,
  name?: string,
): Promise<Row[]> => {
  const result = await client.query({
    text: sql,
    values: [...params],
    ...(name === undefined ? {} : { name }),
    ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs }),
  });
  return result.rows as Row[];
};

/** Quotes `name` as an SQL identifier. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
