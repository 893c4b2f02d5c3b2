import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbedded } from '@berth/embedded';
import pg from 'pg';
import { provideCluster } from './database-template.js';
import type { OnLoss, SharedServer } from './shared-server.js';

const ELSEWHERE = 'elsewhere://';

/** Starts a PostgreSQL server on which each lease gets a new database. */
export const startSharedPostgres = async (folder: string, onLoss: OnLoss): Promise<SharedServer> => {
  const dataDir = await mkdtemp(join(folder, 'postgres-'));
  const lost = (_context: object, message: string): void =>
    onLoss(`The shared PostgreSQL server of the tests: ${message}. Its log is in ${join(dataDir, 'logs')}.`);
  await provideCluster(dataDir);
  const running = await startEmbedded({
    dataDir,
    natsUrl: ELSEWHERE,
    eventStoreUrl: ELSEWHERE,
    log: { info: () => undefined, warn: lost, error: lost },
  });
  const admin = new pg.Client({ connectionString: running.databaseUrl });
  // Its loss is reported by the supervision.
  admin.on('error', () => undefined);
  await admin.connect();
  let databases = 0;
  return {
    open: async () => {
      const name = `lease_${++databases}`;
      await admin.query(`CREATE DATABASE ${name}`);
      const url = new URL(running.databaseUrl);
      url.pathname = `/${name}`;
      return {
        url: url.href,
        remove: async () => void (await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)),
      };
    },
    stop: async () => {
      await admin.end();
      await running.stop();
    },
  };
};
