import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestInfra, TcpProxy, type TestInfra } from '@berth/testing';
import { openDatabase, quoteIdentifier, type Database, type DatabaseOptions } from './index.js';

const LIMIT = 4;
const logged: string[] = [];
const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (_: object, message: string) => void logged.push(message),
  error: () => undefined,
};
const unavailable = expect.objectContaining({ kind: 'unavailable', code: 'service_unavailable' }) as unknown;

let infra: TestInfra;
let admin: Database;
let user: string;
let url: string;
let release: () => Promise<void> = () => Promise.resolve();
const open: Database[] = [];

/** Notices between the databases of this process. */
const listeners = new Set<(text: string) => void>();
const inProcess: NonNullable<DatabaseOptions['notices']>['server'] = {
  connected: true,
  publish: (_, text) => listeners.forEach((listener) => listener(text)),
  subscribe: (_, listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  const options = { schema: 'admin', migrations: [], applicationName: 'admin', log };
  admin = await openDatabase({ ...options, url: infra.databaseUrl });
  // Superusers have no limit.
  user = `limited_${randomUUID().slice(0, 8)}`;
  await admin.query(`CREATE ROLE ${user} LOGIN PASSWORD 'limited' CONNECTION LIMIT ${LIMIT}`);
  await admin.query(
    `GRANT ALL ON DATABASE ${quoteIdentifier(new URL(infra.databaseUrl).pathname.slice(1))} TO ${user}`,
  );
  const limited = new URL(infra.databaseUrl);
  limited.username = user;
  limited.password = 'limited';
  url = limited.href;
});

afterEach(async () => {
  await release();
  await Promise.all(open.splice(0).map((database) => database.close()));
  listeners.clear();
  logged.length = 0;
});

afterAll(async () => {
  await admin.close();
  await infra.stop();
});

const database = async (options: Partial<DatabaseOptions> = {}): Promise<Database> => {
  const own = { url, schema: 'crowded', migrations: [], applicationName: 'crowded', log };
  const opened = await openDatabase({ ...own, ...options });
  open.push(opened);
  return opened;
};

const connections = async (): Promise<number> =>
  (await admin.query('SELECT 1 FROM pg_stat_activity WHERE usename = $1', [user])).length;

/** Takes `count` connections until `release`. */
const hold = async (count: number): Promise<void> => {
  const holder = await database();
  const held = await Promise.all(Array.from({ length: count }, () => holder.connect()));
  logged.length = 0;
  release = async () => void (await Promise.all(held.map((connection) => connection.close())));
};

describe('a server without free connections', () => {
  it('makes calls wait, and succeed once there is one', async () => {
    const waiting = await database();
    await eventually(async () => expect(await connections()).toBe(0));
    await hold(LIMIT);
    const calls = Promise.all([
      waiting.query('SELECT 1 AS one'),
      waiting.transaction((tx) => tx.query('SELECT 1 AS one')),
      waiting.entities((manager) => manager.query<unknown[]>('SELECT 1 AS one')),
      waiting.query('SELECT 1 AS one'),
      waiting.query('SELECT 1 AS one'),
    ]);
    await eventually(() => expect(logged).toHaveLength(1));
    await release();
    expect(await calls).toEqual(Array.from({ length: 5 }, () => [{ one: 1 }]));
  });

  it('makes calls fail as unavailable within four seconds; only the log contains the reason', async () => {
    const waiting = await database();
    await eventually(async () => expect(await connections()).toBe(0));
    await hold(LIMIT);
    const began = performance.now();
    const calls = await Promise.allSettled([waiting.query('SELECT 1'), waiting.query('SELECT 1')]);
    expect(calls.map((call) => 'reason' in call && (call.reason as unknown))).toEqual([
      unavailable,
      unavailable,
    ]);
    expect(performance.now() - began).toBeLessThan(4_600);
    expect(logged).toEqual(['PostgreSQL has no free connection; calls wait for one, or fail as unavailable']);
  });

  it('that also freezes makes every waiting call fail within four seconds, not one after the other', async () => {
    const proxy = await TcpProxy.start(Number(new URL(url).port));
    const throughProxy = new URL(url);
    throughProxy.port = String(proxy.port);
    const waiting = await database({ url: throughProxy.href });
    await eventually(async () => expect(await connections()).toBe(0));
    await hold(LIMIT);
    const first = waiting.query('SELECT 1').catch((error: unknown) => error);
    await eventually(() => expect(logged).toHaveLength(1));
    proxy.freeze();
    const began = performance.now();
    const calls = await Promise.allSettled(Array.from({ length: 4 }, () => waiting.query('SELECT 1')));
    expect(performance.now() - began).toBeLessThan(4_600);
    expect(calls.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'rejected'));
    expect(await first).toEqual(unavailable);
    proxy.thaw();
    await release();
    await expect(eventually(() => waiting.ping())).resolves.toBeUndefined();
    await proxy.stop();
  });

  it('is awaited at the start', async () => {
    await hold(LIMIT);
    const opening = database({ schema: 'late' });
    await eventually(() => expect(logged).toContain('database is not up, waiting'));
    await release();
    await expect((await opening).ping()).resolves.toBeUndefined();
  });

  it('makes every process that receives the notice close its idle connections', async () => {
    const notices = { service: inProcess, server: inProcess };
    const [idle, other] = [await database({ notices, poolSize: LIMIT }), await database({ notices })];
    await eventually(async () => expect(await connections()).toBe(0));
    await Promise.all(Array.from({ length: LIMIT }, () => idle.ping()));
    expect(await connections()).toBe(LIMIT);
    const began = performance.now();
    await other.ping();
    // Otherwise they stay open for five seconds.
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});
