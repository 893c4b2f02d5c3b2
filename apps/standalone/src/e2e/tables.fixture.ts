import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Queries the tables of a running installation's data folder. */
export const queryTables = async (
  dataDir: string,
  sql: string,
  parameters: readonly unknown[],
): Promise<unknown[]> => {
  const json = (name: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(dataDir, 'embedded', name), 'utf8')) as Record<string, unknown>;
  const client = new pg.Client({
    host: '127.0.0.1',
    port: Number(json('ports.json')['postgres']),
    user: 'berth',
    password: String(json('secrets.json')['postgresPassword']),
    database: 'berth',
  });
  await client.connect();
  try {
    return (await client.query(sql, [...parameters])).rows as unknown[];
  } finally {
    await client.end();
  }
};
