import { openDatabase, type Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { BenchError } from '../bench-error.js';

/** A statement must end before the time for each is over. */
const AT_ONCE = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;

/** The tables of a Berth, for filling them with more rows than its API could make in a minute. */
export class FilledTables {
  private constructor(private readonly database: Database) {}

  static async open(databaseUrl: string, log: Logger): Promise<FilledTables> {
    const options = { schema: 'bench_fill', migrations: [], applicationName: 'bench', log };
    return new FilledTables(await openDatabase({ ...options, url: databaseUrl }));
  }

  /**
   * Inserts `rows` rows into the table of a projection, whose name ends with a suffix of its own, and analyses it. The
   * last two parameters of the statement are the first and the last number of the rows that it inserts.
   */
  async fill(
    projection: string,
    insertInto: (table: string) => string,
    values: readonly unknown[],
    rows: number,
  ): Promise<void> {
    const name = await this.nameOf(projection);
    for (let first = 1; first <= rows; first += AT_ONCE)
      await this.database.query(insertInto(name), [...values, first, Math.min(rows, first + AT_ONCE - 1)]);
    await this.database.query(`ANALYZE ${name}`);
  }

  /** The table with its schema. */
  async nameOf(projection: string): Promise<string> {
    const [found] = await this.database.query<{ readonly name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE tablename ~ $1 ORDER BY tablename DESC`,
      [`^${projection}_[^_]+$`],
    );
    if (found === undefined) throw new BenchError(`There is no table of ${projection}.`);
    return found.name;
  }

  /** Runs a statement that may take long. */
  read(sql: string, values: readonly unknown[]): Promise<readonly object[]> {
    return this.database.transaction((tx) => tx.query<object>(sql, values), {
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
