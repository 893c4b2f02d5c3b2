import { copyFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEventStoreServer, type EventStoreServer } from '@berth/embedded';
import { openDatabase, type Database } from '@berth/persistence';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { historyProjection, rowsOf } from './fixtures/history-projection.js';
import { newEvent, quietLog, record, supervised } from './fixtures/store-fixture.js';
import { commandMeta, newTally, tallyHandler } from './fixtures/tally-fixture.js';
import { connectEventStore, PositionBeyondLog, ProjectionRunner, type EventStore } from './index.js';

/* Each test has its own log, which is empty at first, as in a new installation. */

let infra: TestInfra;
let folder: string;
let server: EventStoreServer;
let store: EventStore;
let database: Database;
let stop: AbortController;
let running: Promise<void>[];
let logs = 0;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  folder = await mkdtemp(join(tmpdir(), 'berth-foreign-log-'));
});

afterAll(async () => {
  await infra.stop();
  await rm(folder, { recursive: true, force: true });
});

const startLog = async (): Promise<void> => {
  server = await startEventStoreServer({ file: join(folder, `${++logs}.db`), port: 0 });
  store = connectEventStore({ url: `esdb://127.0.0.1:${server.port}?tls=false`, log: quietLog });
};

const stopLog = async (): Promise<void> => {
  await store.close();
  await server.close();
};

beforeEach(async () => {
  await startLog();
  stop = new AbortController();
  running = [];
  database = await openDatabase({
    url: infra.databaseUrl,
    schema: `foreign${logs}`,
    migrations: [],
    applicationName: 'foreign-log-test',
    log: quietLog,
  });
});

afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  await database.close();
  await stopLog();
});

const write = async (stream: string, numbers: readonly number[]): Promise<bigint> => {
  const events = numbers.map((n) => newEvent({ n }));
  return (await store.append(stream, events, 'no_stream')).position;
};

const runner = (version = 1): ProjectionRunner =>
  new ProjectionRunner({ store, database, projection: historyProjection({ version }), log: quietLog });

const start = (started: ProjectionRunner): ProjectionRunner => {
  running.push(supervised(started, stop.signal));
  return started;
};

const restart = async (): Promise<void> => {
  stop.abort();
  await Promise.all(running);
  stop = new AbortController();
};

describe('on a log without matching events', () => {
  it('a subscription delivers later events', async () => {
    const received = record(store, { from: 'start', categories: ['note'] });
    await eventually(() => received.items.some(({ kind }) => kind === 'caughtUp'));
    await write('note-1', [1, 2]);
    await eventually(() => received.numbers().length === 2);
    expect(received.items.every((item) => item.kind !== 'checkpoint' || item.position < 2n ** 63n)).toBe(
      true,
    );
    await received.stop();
  });

  it('a projection applies later events, also after a restart', async () => {
    await write('other-1', [0]);
    const first = start(runner());
    await eventually(async () => expect(await first.status()).toMatchObject({ version: 1, lag: 0 }));
    expect(await first.waitFor(await write('note-1', [1]))).toBe(true);
    await restart();
    const second = start(runner());
    expect(await second.waitFor(await write('note-2', [2]), 5_000)).toBe(true);
    expect(await rowsOf(database)).toEqual([
      { stream: 'note-1', seen: [1] },
      { stream: 'note-2', seen: [2] },
    ]);
  });

  it('`caughtUp` means that everything up to the head was searched, although the server sends no checkpoint there', async () => {
    const head = await write('other-1', [1, 2, 3]);
    const received = record(store, { from: 'start', categories: ['note'] });
    await eventually(() => received.items.length >= 2);
    expect(received.items).toEqual([{ kind: 'checkpoint', position: head }, { kind: 'caughtUp' }]);
    await received.stop();
  });
});

describe('an event', () => {
  it('is found at its position, and none at other positions', async () => {
    const position = await write('note-1', [1]);
    expect(await store.eventAt(position)).toMatchObject({ stream: 'note-1', position, data: { n: 1 } });
    expect(await store.eventAt(position + 1n)).toBeNull();
    expect(await store.eventAt(position + 1_000_000n)).toBeNull();
  });
});

describe('a log that ends before a stored position', () => {
  it('makes a subscription from there throw PositionBeyondLog', async () => {
    const head = await write('note-1', [1]);
    const items = store.subscribe({ from: head + 1n, categories: ['note'], signal: stop.signal });
    const { failure } = await items[Symbol.asyncIterator]()
      .next()
      .then(
        () => ({ failure: undefined }),
        (error: unknown) => ({ failure: error }),
      );
    expect(failure).toBeInstanceOf(PositionBeyondLog);
    expect(failure).toMatchObject({ position: head + 1n, head });
  });

  it('makes a projection build its tables again from the events of the log', async () => {
    const before = start(runner());
    expect(await before.waitFor(await write('note-1', [1, 2, 3]), 5_000)).toBe(true);
    await restart();
    await stopLog();
    await startLog();
    await write('note-7', [7]);
    const after = start(runner());
    await eventually(async () => expect(await rowsOf(database)).toEqual([{ stream: 'note-7', seen: [7] }]));
    const position = await write('note-8', [8]);
    await eventually(async () => expect(await after.status()).toMatchObject({ version: 1, lag: 0 }));
    expect(await after.waitFor(position)).toBe(true);
    expect(await rowsOf(database)).toHaveLength(2);
  });

  it('keeps a projection from being caught up until its tables are built again', async () => {
    const before = start(runner());
    expect(await before.waitFor(await write('note-1', [1, 2, 3]), 5_000)).toBe(true);
    await restart();
    await stopLog();
    await startLog();
    await write('note-7', [7]);
    await start(runner()).untilCaughtUp();
    expect(await rowsOf(database)).toEqual([{ stream: 'note-7', seen: [7] }]);
  });

  it('is detected when the log is replaced under a running projection', async () => {
    const live = start(runner());
    const { port } = server;
    expect(await live.waitFor(await write('note-1', [1, 2, 3]), 5_000)).toBe(true);
    await server.close();
    server = await startEventStoreServer({ file: join(folder, `${++logs}.db`), port });
    await eventually(async () => expect(await rowsOf(database)).toEqual([]), { timeoutMs: 15_000 });
    await eventually(() => write('note-9', [9]), { timeoutMs: 15_000 });
    await eventually(async () => expect(await rowsOf(database)).toEqual([{ stream: 'note-9', seen: [9] }]));
    expect(await live.status()).toMatchObject({ lag: 0 });
  });

  it('makes a projection drop an unfinished new version that was built from another log', async () => {
    const old = start(runner(1));
    expect(await old.waitFor(await write('note-1', [1, 2, 3]), 5_000)).toBe(true);
    await restart();
    await database.query(
      `INSERT INTO projections (name, version, build, suffix, position, state)
       VALUES ('history', 2, 0, 'v2', 999, 'building')`,
    );
    const upgraded = start(runner(2));
    await eventually(async () => expect(await upgraded.status()).toMatchObject({ version: 2, lag: 0 }));
    expect(await rowsOf(database)).toEqual([{ stream: 'note-1', seen: [1, 2, 3] }]);
  });
});

describe('a log that is restored from a backup while a process has later states of its streams in memory', () => {
  const addsOne = (handler: ReturnType<typeof tallyHandler>, id: string, commandId: string) =>
    eventually(() => handler.handle(id, { add: 1 }, commandMeta(commandId)), { timeoutMs: 10_000 });

  /** Replaces the log by the one that it was before `work`. */
  const restoreAfter = async (work: () => Promise<void>): Promise<void> => {
    const { port } = server;
    await server.close();
    const [file, backup] = [join(folder, `${logs}.db`), join(folder, `${++logs}.db`)];
    copyFileSync(file, backup);
    server = await startEventStoreServer({ file, port });
    await eventually(() => store.ping());
    await work();
    await server.close();
    server = await startEventStoreServer({ file: backup, port });
    await eventually(() => store.ping());
  };

  it('serves and changes the states that the log has', async () => {
    const handler = tallyHandler(store);
    const [shorter, missing, other] = [newTally(), newTally(), newTally()];
    await addsOne(handler, shorter, 'cmd_1');
    await restoreAfter(async () => {
      for (const id of [shorter, missing, other]) await addsOne(handler, id, 'cmd_2');
      await addsOne(handler, shorter, 'cmd_3');
    });
    expect(await handler.load(missing)).toEqual({ state: 0, revision: null });
    expect(await addsOne(handler, shorter, 'cmd_4')).toMatchObject({ state: 2, revision: 1n });
    // The log lost the command with its events, so it is executed, and by another process at the same revision.
    await tallyHandler(store).handle(other, { add: 5 }, commandMeta('cmd_5'));
    expect(await addsOne(handler, other, 'cmd_2')).toMatchObject({ state: 6, revision: 1n, replayed: false });
  });
});
