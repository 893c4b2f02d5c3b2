import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.js';
import { lease as leaseFrom, type Lease, type SharedPart } from './lease.js';
import { LeaseServer } from './lease-server.js';
import { createRunFolder } from './run-folder.js';

let folder: string;
let server: LeaseServer;
const leases: Lease[] = [];

const lease = async (...given: Parameters<typeof leaseFrom>): Promise<Lease> => {
  const made = await leaseFrom(...given);
  leases.push(made);
  return made;
};

beforeEach(async () => {
  folder = createRunFolder();
  server = await LeaseServer.start(folder);
});
afterEach(async () => {
  await Promise.all(leases.splice(0).map((one) => one.release()));
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const query = async (url = '', sql: string): Promise<readonly unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

const tables = (url?: string): Promise<readonly unknown[]> =>
  query(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);

const streams = async (url = ''): Promise<readonly string[]> => {
  const client = EventStoreDBClient.connectionString(url);
  const found: string[] = [];
  for await (const { event } of client.readAll()) found.push(event?.streamId ?? '');
  await client.dispose();
  return found;
};

const append = async (url = '', stream: string): Promise<void> => {
  const client = EventStoreDBClient.connectionString(url);
  await client.appendToStream(stream, jsonEvent({ type: 'Happened', data: {} }));
  await client.dispose();
};

const use = async ({ urls }: Lease, name: string): Promise<void> => {
  await query(urls.postgres, `CREATE TABLE ${name} (id int)`);
  await append(urls.eventStore, name);
};

const serverOf = ({ urls }: Lease): string => new URL(urls.postgres ?? '').host;

const expectOnly = async ({ urls }: Lease, ...names: string[]): Promise<void> => {
  expect(await tables(urls.postgres)).toEqual(names.map((tablename) => ({ tablename })));
  expect(await streams(urls.eventStore)).toEqual(names);
};

describe('a lease of shared servers', () => {
  const parts = ['eventStore', 'postgres'] as const;

  it('has its servers to itself and finds them empty, also after another lease', async () => {
    const [one, two] = await Promise.all([lease(folder, parts), lease(folder, parts)]);
    await use(one, 'one');
    await use(two, 'two');
    await expectOnly(one, 'one');
    await expectOnly(two, 'two');
    await one.release();
    const three = await lease(folder, parts);
    await expectOnly(three);
    expect(serverOf(three)).toBe(serverOf(one));
    expect(serverOf(three)).not.toBe(serverOf(two));
    await expectOnly(two, 'two');
  });

  it('starts nothing but the requested parts', async () => {
    await lease(folder, ['eventStore']);
    expect(readdirSync(folder).map((name) => name.replace(/-.*/, ''))).toEqual(['event', 'leases.sock']);
  });
});

/** Returns the process id of each server, from its pid file or command line. */
const pidOf = (part: SharedPart): number => {
  const own = (name: string): boolean => name.startsWith(part === 'postgres' ? 'postgres-' : 'event-logs-');
  const data = join(folder, readdirSync(folder).find(own) ?? '');
  if (part === 'postgres') {
    const file = readFileSync(join(data, 'embedded', 'postgres.pid.json'), 'utf8');
    return (JSON.parse(file) as { pid: number }).pid;
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const pid = pids.find((name) => commandOf(name).includes(data));
  if (pid === undefined) throw new Error('The event store does not run.');
  return Number(pid);
};

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};

describe.each(['postgres', 'eventStore'] as const)('a shared server (%s) that ends early', (part) => {
  it('fails present and later leases and the end of the run, with one message', async () => {
    const losses: Error[] = [];
    await lease(folder, [part], (error) => void losses.push(error));
    process.kill(pidOf(part), 'SIGKILL');
    await eventually(() => losses.length > 0);
    const message = losses[0]?.message ?? '';
    expect(message).toMatch(part === 'postgres' ? /PostgreSQL/ : /event store/);
    await expect(lease(folder, ['eventStore'])).rejects.toThrow(message);
    await expect(server.stop()).rejects.toThrow(message);
    expect(losses).toHaveLength(1);
    server = await LeaseServer.start(folder);
  });
});

/** The name of the folder of a run with this process id, in the same PID namespace as the given one. */
const besides = (folder: string, pid: number | undefined, namespace = ''): string => {
  const [, own = ''] = /^b\d+n([^-]+)-/.exec(basename(folder)) ?? [];
  return join(dirname(folder), `b${String(pid)}n${own}${namespace}-left`);
};

it('the folder of a run that was killed is removed by the next run, those of others are not', async () => {
  const mine = createRunFolder();
  const ended = spawn(process.execPath, ['--version']);
  await once(ended, 'exit');
  const killed = besides(mine, ended.pid);
  const elsewhere = besides(mine, ended.pid, 'x');
  for (const folder of [killed, elsewhere]) mkdirSync(folder);
  const second = createRunFolder();
  // Those of a running run, and of a run in another PID namespace, remain.
  expect([killed, elsewhere, mine].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  for (const made of [mine, second, elsewhere]) rmSync(made, { recursive: true });
});
