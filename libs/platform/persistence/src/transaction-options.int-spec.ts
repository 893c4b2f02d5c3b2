import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from './index.js';

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

let infra: TestInfra;
let database: Database;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  const options = { schema: 'options', migrations: [], applicationName: 'test', poolSize: 1, log };
  database = await openDatabase({ url: infra.databaseUrl, ...options });
});
afterAll(async () => {
  await database.close();
  await infra.stop();
});

describe('a transaction', () => {
  it('is durable when it has committed, unless it is relaxed, which ends with it', async () => {
    const setting = (options: { relaxed?: boolean; statementTimeoutMs?: number }): Promise<unknown> =>
      database.transaction(
        (tx) =>
          tx.query(
            `SELECT current_setting('synchronous_commit') AS commit, current_setting('statement_timeout') AS ends`,
          ),
        options,
      );
    const [usual] = (await setting({})) as { ends: string }[];
    expect(usual).toMatchObject({ commit: 'on' });
    expect(await setting({ relaxed: true })).toEqual([{ commit: 'off', ends: usual?.ends }]);
    expect(await setting({ relaxed: true, statementTimeoutMs: 30_000 })).toEqual([
      { commit: 'off', ends: '30s' },
    ]);
    expect(await setting({})).toEqual([usual]);
  });

  it('fails when a table that one of its prepared statements reads has changed, and succeeds when it is repeated', async () => {
    await database.query('CREATE TABLE shape (value integer)');
    const read = (): Promise<unknown> =>
      database.transaction((tx) => tx.query('SELECT * FROM shape WHERE $1', [true]), { prepared: true });
    const prepared = (): Promise<unknown> =>
      database.query(
        `SELECT 1 AS one FROM pg_prepared_statements WHERE statement LIKE 'SELECT * FROM shape%'`,
      );
    await read();
    expect(await prepared()).toEqual([{ one: 1 }]);
    await database.query('ALTER TABLE shape ADD COLUMN more integer');
    await expect(read()).rejects.toMatchObject({ code: '0A000' });
    await expect(read()).resolves.toEqual([]);
  });
});
