import pg from 'pg';
import { urlsOfParts } from './parts.fixture.js';

const connect = async (dataDir: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: urlsOfParts(dataDir).databaseUrl });
  await client.connect();
  return client;
};

/** Queries the tables of a running installation's data folder. */
export const queryTables = async (
  dataDir: string,
  sql: string,
  parameters: readonly unknown[],
): Promise<unknown[]> => {
  const client = await connect(dataDir);
  try {
    return (await client.query(sql, [...parameters])).rows as unknown[];
  } finally {
    await client.end();
  }
};

/** A table that no other session can write until it is released. */
export interface HeldTable {
  /** How many sessions wait for it. */
  waiting(): Promise<number>;
  release(): Promise<void>;
}

export const holdTable = async (dataDir: string, table: string): Promise<HeldTable> => {
  const client = await connect(dataDir);
  await client.query(`BEGIN; LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  return {
    waiting: async () => {
      const waiting =
        'SELECT count(*)::integer AS n FROM pg_locks WHERE relation = $1::regclass AND NOT granted';
      return Number((await client.query<{ n: number }>(waiting, [table])).rows[0]?.n);
    },
    release: () => client.end(),
  };
};

/** Queries as a role that cannot log in. */
export const queryTablesAs = async (dataDir: string, role: string, sql: string): Promise<unknown[]> => {
  const client = await connect(dataDir);
  try {
    await client.query(`SET ROLE ${role}`);
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
};
