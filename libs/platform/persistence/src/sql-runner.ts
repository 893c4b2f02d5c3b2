/** Runs one SQL statement. Numeric and bigint columns arrive as strings, dates as `Date`. */
export interface SqlRunner {
  /** Answers the rows (of `RETURNING` too); values travel as `$1`, `$2`… and never inside the text. */
  query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]>;
}

/** What `pg` needs of a client for one statement; pool clients and dedicated clients both fit. */
export interface StatementClient {
  query(config: {
    text: string;
    values: unknown[];
    name?: string;
    query_timeout?: number;
  }): Promise<{ rows: unknown[] }>;
}

/** Sends one statement; `timeoutMs` is how long this process waits for the answer, `name` prepares it under that name. */
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

/** Writes `name` as an SQL identifier. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
