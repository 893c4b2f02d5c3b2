import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, TcpProxy, type TestInfra } from '@berth/testing';
import { AdvisoryLock, openDatabase, type Database } from './index.js';

const quiet = createLogger({ service: 'test', level: 'silent' });

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
  const supervisor = new Supervisor('test', quiet);
  supervisor.start(name, async () => {
    await AdvisoryLock.hold(database, name, signal, work);
  });
  runs.push(untilAborted(signal).then(() => supervisor.stop()));
  return state;
};

describe('an advisory lock', () => {
  it('lets one holder work at a time, and the next as soon as the first is done', async () => {
    const first = new AbortController();
    const one = contend(direct, 'a', first.signal);
    await eventually(() => one.holds);
    const two = contend(proxied, 'a');
    const other = contend(proxied, 'b');
    await eventually(() => other.holds, { timeoutMs: 15_000 });
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

  it('is free again after the work failed, and the caller gets the error of the work', async () => {
    const fail = (): Promise<void> => Promise.reject(new Error('not yet'));
    await expect(AdvisoryLock.hold(proxied, 'failing', stop.signal, fail)).rejects.toThrow('not yet');
    await expect(AdvisoryLock.hold(direct, 'failing', stop.signal, async () => 'mine')).resolves.toBe('mine');
  });

  it('that is lost makes `hold` fail, even if the work succeeded', async () => {
    const untilLost = (held: AbortSignal): Promise<void> => {
      proxy.cut();
      return untilAborted(held);
    };
    await expect(AdvisoryLock.hold(proxied, 'lost', stop.signal, untilLost)).rejects.toMatchObject({
      kind: 'unavailable',
      cause: { message: 'The advisory lock lost was lost.' },
    });
  });

  it('of a server that is down fails at once', async () => {
    proxy.cut({ refuse: true });
    const hold = AdvisoryLock.hold(proxied, 'down', stop.signal, async () => 'never');
    await expect(hold).rejects.toMatchObject({ kind: 'unavailable' });
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

  it('is not taken by a run that was cancelled while it waited', async () => {
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
    await AdvisoryLock.hold(direct, 'over', stop.signal, async () => undefined);
    await eventually(async () => {
      const rows = await direct.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`);
      return rows.length === 0;
    });
  });
});

describe('the locks of a process', () => {
  const sessionsOf = (application: string): Promise<{ pid: number }[]> =>
    direct.query('SELECT pid FROM pg_stat_activity WHERE application_name = $1', [application]);

  /** A database whose pool is empty when this resolves. */
  const openIdle = async (
    application: string,
    schema = application.replaceAll('-', '_'),
  ): Promise<Database> => {
    const options = { schema, migrations: [], log: quiet, url: infra.databaseUrl };
    const database = await openDatabase({ ...options, applicationName: application });
    await eventually(async () => (await sessionsOf(application)).length === 0, { timeoutMs: 15_000 });
    return database;
  };

  it('share one connection, which closes with the last of them', async () => {
    const database = await openIdle('one-connection');
    const first = new AbortController();
    const one = contend(database, 'share:1', first.signal);
    const held = ['share:2', 'share:3'].map((name) => contend(database, name));
    const waiting = contend(database, 'share:1');
    await eventually(() => one.holds && held.every(({ holds }) => holds));
    expect(waiting.times).toBe(0);
    expect(await sessionsOf('one-connection')).toHaveLength(1);
    first.abort();
    await eventually(() => waiting.holds);
    expect(await sessionsOf('one-connection')).toHaveLength(1);
    stop.abort();
    await Promise.all(runs);
    await eventually(async () => (await sessionsOf('one-connection')).length === 0);
    await database.close();
  });

  it('are all lost with that connection, and all return on the next', async () => {
    const database = await openIdle('lost-connection');
    const held = ['lost:1', 'lost:2', 'lost:3'].map((name) => contend(database, name));
    await eventually(() => held.every(({ holds }) => holds));
    const [before] = await sessionsOf('lost-connection');
    await direct.query('SELECT pg_terminate_backend($1)', [before?.pid]);
    await eventually(() => held.every(({ holds, times }) => holds && times === 2));
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
    await eventually(() => held.every(({ holds }) => holds), { timeoutMs: 15_000 });
    proxy.freeze();
    await eventually(() => held.every(({ holds }) => !holds), { timeoutMs: 5_000 });
    proxy.cut();
    proxy.restore();
    await eventually(() => held.every(({ holds }) => holds), { timeoutMs: 15_000 });
    expect(waiting.times).toBe(0);
  });

  it('need no connection while other processes hold them', async () => {
    const [holder, standby] = await Promise.all([
      openIdle('lock-holder', 'standbys'),
      openIdle('lock-standby', 'standbys'),
    ]);
    const one = contend(holder, 'standby:1');
    await eventually(() => one.holds);
    const two = contend(standby, 'standby:1');
    const samples: number[] = [];
    await eventually(async () => samples.push((await sessionsOf('lock-standby')).length) >= 200, {
      intervalMs: 20,
    });
    expect(samples.filter((sessions) => sessions > 0).length).toBeLessThan(20);
    expect([one.holds, two.times]).toEqual([true, 0]);
    await direct.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lock-holder'`,
    );
    await eventually(() => one.times + two.times === 2 && one.holds !== two.holds);
    stop.abort();
    await Promise.all(runs);
    await Promise.all([holder.close(), standby.close()]);
  });

  it('include every free lock of its service, except those that it does not want', async () => {
    const names = ['both:1', 'both:2', 'both:3'];
    const applications = ['one-of-three', 'two-of-three', 'three-of-three'];
    const databases = await Promise.all(applications.map((name) => openIdle(name, 'three')));
    const held = databases.map((database) => names.map((name) => contend(database, name)));
    const [anyone] = databases;
    if (anyone === undefined) throw new Error('There are three.');
    await eventually(() => held.flat().filter(({ holds }) => holds).length === names.length);
    const leader = held.findIndex((locks) => locks.every(({ holds }) => holds));
    expect(leader).not.toBe(-1);
    const sessions = await Promise.all(applications.map(sessionsOf));
    expect(sessions[leader]).toHaveLength(1);
    const standby = databases.find((_, index) => index !== leader) ?? anyone;
    const unwanted = contend(standby, 'wanted by one');
    await eventually(() => unwanted.holds, { timeoutMs: 15_000 });
    stop.abort();
    await Promise.all(runs);
    await Promise.all(databases.map((database) => database.close()));
  });

  it('include a lock for brief work at once, although another process leads', async () => {
    const [leader, other] = await Promise.all([openIdle('leads', 'brief'), openIdle('follows', 'brief')]);
    const one = contend(leader, 'long');
    await eventually(() => one.holds);
    const began = performance.now();
    await AdvisoryLock.hold(other, 'short', stop.signal, async () => undefined, { brief: true });
    // Otherwise it is left to the leader for three seconds.
    expect(performance.now() - began).toBeLessThan(2_000);
    stop.abort();
    await Promise.all(runs);
    await Promise.all([leader.close(), other.close()]);
  });
});
