import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestInfra, TcpProxy, type TestInfra } from '@berth/testing';
import { AdvisoryLock, openDatabase, type Database } from './index.js';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

let infra: TestInfra;
let proxy: TcpProxy;
let direct: Database;
let proxied: Database;
let stop: AbortController;
let runs: Promise<void>[];

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  const url = new URL(infra.databaseUrl);
  proxy = await TcpProxy.start(Number(url.port));
  const options = { schema: 'locks', migrations: [], applicationName: 'lock-test', log: quiet };
  direct = await openDatabase({ ...options, url: url.href });
  url.port = String(proxy.port);
  proxied = await openDatabase({ ...options, url: url.href });
  stop = new AbortController();
  runs = [];
});

afterEach(async () => {
  stop.abort();
  await Promise.all(runs);
  stop = new AbortController();
  runs = [];
  proxy.restore();
});

afterAll(async () => {
  await Promise.all([direct.close(), proxied.close()]);
  await proxy.stop();
  await infra.stop();
});

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Runs a contender that records when it holds the lock. */
const contend = (
  database: Database,
  name: string,
  signal = stop.signal,
): { holds: boolean; times: number } => {
  const state = { holds: false, times: 0 };
  const work = async (held: AbortSignal): Promise<void> => {
    state.holds = true;
    state.times++;
    await untilAborted(held);
    state.holds = false;
  };
  runs.push(AdvisoryLock.run(database, name, work, { signal, log: quiet }));
  return state;
};

describe('an advisory lock', () => {
  it('lets one holder work at a time, and the next as soon as the first is done', async () => {
    const first = new AbortController();
    const one = contend(direct, 'a', first.signal);
    await eventually(() => one.holds);
    const two = contend(proxied, 'a');
    const other = contend(proxied, 'b');
    await eventually(() => other.holds);
    expect(two.times).toBe(0);
    first.abort();
    await eventually(() => two.holds);
    expect(one.holds).toBe(false);
  });

  it('that is lost with its connection stops the work and passes to another process', async () => {
    const one = contend(proxied, 'cut');
    await eventually(() => one.holds);
    const two = contend(direct, 'cut');
    proxy.cut({ refuse: true });
    await eventually(() => !one.holds);
    await eventually(() => two.holds);
  });

  it('is given up within five seconds when the server stops responding', async () => {
    const one = contend(proxied, 'frozen');
    await eventually(() => one.holds);
    proxy.freeze();
    await eventually(() => !one.holds, { timeoutMs: 5_000 });
    proxy.cut();
    proxy.restore();
    await eventually(() => one.times === 2 && one.holds);
  });

  it('is acquired again after the work failed', async () => {
    let attempts = 0;
    const work = async (): Promise<void> => {
      attempts++;
      if (attempts < 3) throw new Error('not yet');
    };
    await AdvisoryLock.run(direct, 'failing', work, { signal: stop.signal, log: quiet });
    expect(attempts).toBe(3);
  });

  it('is held by one run at a time in one process too, and the next gets it as soon as the first is done', async () => {
    const first = new AbortController();
    const one = contend(direct, 'same', first.signal);
    await eventually(() => one.holds);
    const two = contend(direct, 'same');
    const other = contend(direct, 'asked after the second run');
    await eventually(() => other.holds);
    expect(two.times).toBe(0);
    first.abort();
    await eventually(() => two.holds);
    expect(one.holds).toBe(false);
  });

  it('of a run that was cancelled while it waited is free for others', async () => {
    const one = contend(direct, 'cancelled');
    await eventually(() => one.holds);
    const waiting = new AbortController();
    const two = contend(proxied, 'cancelled', waiting.signal);
    waiting.abort();
    await runs.at(-1);
    expect(two.times).toBe(0);
    expect(one.holds).toBe(true);
  });

  it('leaves no session behind when the work is done', async () => {
    await AdvisoryLock.run(direct, 'over', async () => undefined, { signal: stop.signal, log: quiet });
    await eventually(async () => {
      const rows = await direct.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`);
      return rows.length === 0;
    });
  });
});

describe('the locks and notifications of a process', () => {
  const sessionsOf = (application: string): Promise<{ pid: number }[]> =>
    direct.query('SELECT pid FROM pg_stat_activity WHERE application_name = $1', [application]);

  /** A database whose pool is empty when this resolves. */
  const openIdle = async (application: string): Promise<Database> => {
    const options = { schema: 'locks', migrations: [], log: quiet, url: infra.databaseUrl };
    const database = await openDatabase({ ...options, applicationName: application });
    await eventually(async () => (await sessionsOf(application)).length === 0, { timeoutMs: 15_000 });
    return database;
  };

  it('share one connection, which closes with the last of them', async () => {
    const database = await openIdle('one-connection');
    const names = ['share:1', 'share:2', 'share:3'];
    const held = names.map((name) => contend(database, name));
    const waiting = contend(database, 'share:1');
    const heard: (string | null)[] = [];
    database.listen('channel:shared', (payload) => heard.push(payload));
    await eventually(() => held.every(({ holds }) => holds) && heard.length > 0);
    expect(waiting.times).toBe(0);
    expect(await sessionsOf('one-connection')).toHaveLength(1);
    stop.abort();
    await Promise.all(runs);
    await direct.query(`SELECT pg_notify('channel:shared', 'still')`);
    await eventually(() => heard.includes('still'));
    await database.close();
    await eventually(async () => (await sessionsOf('one-connection')).length === 0);
  });

  it('are all lost with that connection, and all return on the next', async () => {
    const database = await openIdle('lost-connection');
    const held = ['lost:1', 'lost:2', 'lost:3'].map((name) => contend(database, name));
    const heard: (string | null)[] = [];
    database.listen('channel:lost', (payload) => heard.push(payload));
    await eventually(() => held.every(({ holds }) => holds) && heard.length > 0);
    const [before] = await sessionsOf('lost-connection');
    await direct.query('SELECT pg_terminate_backend($1)', [before?.pid]);
    await eventually(() => held.every(({ holds, times }) => holds && times === 2) && heard.length > 1);
    const after = await sessionsOf('lost-connection');
    expect(after).toHaveLength(1);
    expect(after).not.toEqual([before]);
    stop.abort();
    await Promise.all(runs);
    await database.close();
  });

  it('are all given up within five seconds when the server stops responding', async () => {
    const elsewhere = contend(direct, 'frozen:elsewhere');
    await eventually(() => elsewhere.holds);
    const held = ['frozen:1', 'frozen:2'].map((name) => contend(proxied, name));
    const waiting = contend(proxied, 'frozen:elsewhere');
    await eventually(() => held.every(({ holds }) => holds));
    proxy.freeze();
    await eventually(() => held.every(({ holds }) => !holds), { timeoutMs: 5_000 });
    proxy.cut();
    proxy.restore();
    await eventually(() => held.every(({ holds }) => holds));
    expect(waiting.times).toBe(0);
  });
});

describe('notifications', () => {
  const heardBy = (database: Database, channel: string): (string | null)[] => {
    const heard: (string | null)[] = [];
    database.listen(channel, (payload) => heard.push(payload));
    return heard;
  };

  it('reach every listener of their channel over one connection', async () => {
    const a = heardBy(direct, 'channel:a');
    const again = heardBy(direct, 'channel:a');
    const b = heardBy(direct, 'channel:b');
    await eventually(() => b.length > 0 && a.length > 0);
    await direct.query(`SELECT pg_notify('channel:a', 'one')`);
    await direct.query(`SELECT pg_notify('channel:b', 'two')`);
    await eventually(() => a.includes('one') && again.includes('one') && b.includes('two'));
    expect(a).not.toContain('two');
    const sessions = await direct.query(`SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`);
    expect(sessions.length).toBeLessThanOrEqual(1);
  });

  it('arrive again after the connection was lost, and the listener learns of the gap', async () => {
    const heard = heardBy(proxied, 'channel:c');
    await eventually(() => proxied.listening);
    proxy.cut();
    await eventually(() => heard.filter((payload) => payload === null).length >= 2);
    await direct.query(`SELECT pg_notify('channel:c', 'after')`);
    await eventually(() => heard.includes('after'));
  });

  it('end with unlisten', async () => {
    const kept = heardBy(direct, 'channel:d');
    const dropped: (string | null)[] = [];
    direct.listen('channel:d', (payload) => dropped.push(payload))();
    await eventually(() => kept.length > 0);
    await direct.query(`SELECT pg_notify('channel:d', 'x')`);
    await eventually(() => kept.includes('x'));
    expect(dropped).not.toContain('x');
  });
});
