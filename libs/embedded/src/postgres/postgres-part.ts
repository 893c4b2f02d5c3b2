import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { LOOPBACK } from '@berth/host-requirements';
import type { PartContext, PartPlan } from '../part.js';
import { findPostgres } from './postgres-binaries.js';
import {
  clearStalePidFile,
  ensureCluster,
  folderArgument,
  POSTGRES_ENVIRONMENT,
  SUPERUSER,
} from './postgres-cluster.js';
import { postgresUser } from './postgres-user.js';

const DATABASE = 'berth';

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: LOOPBACK,
  // No Unix socket: the password alone decides who can connect.
  unix_socket_directories: '',
  max_connections: '100',
  fsync: 'on',
  synchronous_commit: 'on',
  password_encryption: 'scram-sha-256',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
};

/** Plans the database: PostgreSQL with its cluster under `<dataDir>/postgres`. */
export async function planPostgres(context: PartContext): Promise<PartPlan> {
  const runAs = await postgresUser(context.log);
  const binaries = await findPostgres(runAs);
  const password = context.secrets.postgresPassword;
  const cluster = await ensureCluster(context.dataDir, binaries, runAs, password);
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = (port: number, database = DATABASE): string =>
    `postgresql://${SUPERUSER}:${password}@${LOOPBACK}:${port}/${database}`;
  return {
    name: 'postgres',
    url,
    // SIGINT rolls back open transactions and shuts down cleanly; SIGQUIT skips the clean shutdown.
    ending: [
      { signal: 'SIGINT', waitMs: 4000 },
      { signal: 'SIGQUIT', waitMs: 1500 },
    ],
    spec: (port) => ({
      command: binaries.postgres,
      args: ['-D', folderArgument(cluster.data, runAs), '-p', String(port), ...settings],
      cwd: cluster.data,
      env: POSTGRES_ENVIRONMENT,
      ...(runAs ? { runAs } : {}),
      prepare: () => clearStalePidFile(cluster),
      ready: (child, signal) =>
        untilResponding(child, join(cluster.data, 'postmaster.pid'), url(port, 'postgres'), signal),
    }),
    afterStart: (port) => ensureDatabase(url(port, 'postgres')),
  };
}

/**
 * Waits for the server's status in `postmaster.pid` (process id first, status on line 8) before it connects: each
 * connection that comes too early is an error line in the server's log.
 */
async function untilResponding(
  child: ChildProcess,
  pidFile: string,
  connectionString: string,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if (reportsReady(pidFile, child.pid) && (await responds(connectionString))) return;
    await delay(20, undefined, { signal });
  }
}

function reportsReady(pidFile: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(pidFile, 'utf8').split('\n');
    return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

async function responds(connectionString: string): Promise<boolean> {
  return withClient(connectionString, async (client) => {
    await client.query('SELECT 1');
  }).then(
    () => true,
    () => false,
  );
}

async function ensureDatabase(connectionString: string): Promise<void> {
  await withClient(connectionString, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
}

async function withClient(
  connectionString: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000 });
  // A server that goes down during the query must not end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
