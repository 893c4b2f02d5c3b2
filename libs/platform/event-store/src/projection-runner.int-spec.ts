import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@berth/persistence';
import { eventually, TcpProxy } from '@berth/testing';
import { historyProjection, rowsOf, type HistoryRow } from './fixtures/history-projection.js';
import {
  newEvent,
  quietLog,
  startStoreFixture,
  type StoreFixture,
  supervised,
} from './fixtures/store-fixture.js';
import { ProjectionRunner, type EventStore, type Projection, type SubscriptionItem } from './index.js';

let fixture: StoreFixture;
let proxy: TcpProxy;
let schemas = 0;
let database: Database;
let proxied: Database;
let stop: AbortController;
let running: Promise<void>[];
let category: string;
let written: Map<string, number[]>;

beforeAll(async () => {
  fixture = await startStoreFixture(['eventStore', 'postgres']);
  proxy = await TcpProxy.start(Number(new URL(fixture.infra.databaseUrl).port));
});

const open = (url: string, schema: string): Promise<Database> =>
  openDatabase({ url, schema, migrations: [], applicationName: 'projection-test', log: quietLog });

beforeEach(async () => {
  category = `note${++schemas}`;
  written = new Map();
  stop = new AbortController();
  running = [];
  const url = new URL(fixture.infra.databaseUrl);
  database = await open(url.href, category);
  url.port = String(proxy.port);
  proxied = await open(url.href, category);
});

afterEach(async () => {
  fixture.proxy.restore();
  proxy.restore();
  stop.abort();
  await Promise.all(running);
  await Promise.all([database.close(), proxied.close()]);
});

afterAll(async () => {
  await proxy.stop();
  await fixture.stop();
});

/** Writes `count` events to a few streams and records the expected rows. */
const write = async (count: number): Promise<bigint> => {
  let position = 0n;
  for (let n = 0; n < count; n++) {
    const stream = `${category}-${n % 3}`;
    const before = written.get(stream) ?? [];
    const events = [newEvent({ n: before.length }), newEvent({ n: before.length + 1 })];
    const expected = before.length === 0 ? 'no_stream' : BigInt(before.length - 1);
    ({ position } = await fixture.direct.append(stream, events, expected));
    written.set(stream, [...before, before.length, before.length + 1]);
  }
  return position;
};

const expectedRows = (): HistoryRow[] =>
  [...written].map(([stream, seen]) => ({ stream, seen })).sort((a, b) => (a.stream < b.stream ? -1 : 1));

type HistoryOptions = NonNullable<Parameters<typeof historyProjection>[0]>;
const projection = (options: HistoryOptions = {}): Projection => historyProjection({ category, ...options });

const runnerOf = (
  options: { projection?: Projection; store?: EventStore; database?: Database } = {},
): ProjectionRunner =>
  new ProjectionRunner({
    store: fixture.direct,
    database,
    projection: projection(),
    log: quietLog,
    ...options,
  });

const start = (runner: ProjectionRunner, signal = stop.signal): ProjectionRunner => {
  running.push(supervised(runner, signal));
  return runner;
};

const expectAllSeen = async (runner: ProjectionRunner, position: bigint): Promise<void> => {
  await eventually(() => runner.waitFor(position, 1_000), { timeoutMs: 20_000 });
  expect(await rowsOf(database)).toEqual(expectedRows());
};

/** A store whose subscription is modified. */
const storeWith = (
  change: (items: AsyncIterable<SubscriptionItem>) => AsyncIterable<SubscriptionItem>,
): EventStore =>
  Object.assign(Object.create(fixture.direct) as EventStore, {
    subscribe: (options: Parameters<EventStore['subscribe']>[0]) => change(fixture.direct.subscribe(options)),
  });

describe('a projection', () => {
  it('shows a writer its own write, in the leading process and in any other', async () => {
    await write(5);
    const leader = start(runnerOf());
    const other = runnerOf({ database: proxied });
    for (let n = 0; n < 10; n++) {
      const position = await write(1);
      expect(await Promise.all([leader.waitFor(position), other.waitFor(position)])).toEqual([true, true]);
      expect(await rowsOf(proxied)).toEqual(expectedRows());
    }
  });

  it('reports in time that a position was not reached', async () => {
    const runner = start(runnerOf());
    const position = await write(1);
    expect(await runner.waitFor(position)).toBe(true);
    const began = performance.now();
    expect(await runner.waitFor(position + 1_000n, 200)).toBe(false);
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it('serves a thousand waiters with one connection and one poll', async () => {
    const runner = start(runnerOf());
    expect(await runner.waitFor(await write(1))).toBe(true);
    const next = (await fixture.direct.head()) ?? 0n;
    const waiters = Array.from({ length: 1_000 }, () => runner.waitFor(next + 1n, 5_000));
    const statements = async (): Promise<number> => {
      const [row] = await database.query<{ calls: string }>(
        'SELECT xact_commit AS calls FROM pg_stat_database WHERE datname = current_database()',
      );
      return Number(row?.calls);
    };
    const before = await statements();
    await write(1);
    expect((await Promise.all(waiters)).every(Boolean)).toBe(true);
    expect((await statements()) - before).toBeLessThan(100);
  });

  it('reports its status', async () => {
    const runner = runnerOf();
    await write(7);
    expect(await runner.status()).toMatchObject({ version: 0, position: null, lag: 14, rebuilding: false });
    start(runner);
    const position = await write(1);
    await runner.waitFor(position);
    await eventually(async () => expect(await runner.status()).toMatchObject({ version: 1, lag: 0 }));
  });
});

describe('every event is applied exactly once', () => {
  it('when the process dies between the rows and the checkpoint', async () => {
    let crashes = 0;
    const position = await write(40);
    const hook = (): void => {
      if (crashes++ < 3) throw new Error('crashed');
    };
    await expectAllSeen(start(runnerOf({ projection: projection({ hook }) })), position);
    expect(crashes).toBeGreaterThan(3);
  });

  it('when the connection dies inside the transaction', async () => {
    let kills = 0;
    const position = await write(20);
    const hook: HistoryOptions['hook'] = async (tx) => {
      if (kills++ < 2) await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
    };
    await expectAllSeen(start(runnerOf({ projection: projection({ hook }) })), position);
  });

  it('when the log delivers every event twice and repeats old ones', async () => {
    async function* twice(items: AsyncIterable<SubscriptionItem>): AsyncIterable<SubscriptionItem> {
      let first: SubscriptionItem | undefined;
      for await (const item of items) {
        first ??= item.kind === 'event' ? item : undefined;
        yield item;
        yield item;
        if (first !== undefined) yield first;
      }
    }
    const runner = start(runnerOf({ store: storeWith(twice) }));
    await write(20);
    await expectAllSeen(runner, await write(20));
  });

  it('when log and database fail repeatedly', async () => {
    const runner = start(runnerOf({ store: fixture.proxied, database: proxied }));
    let position = 0n;
    for (let round = 0; round < 5; round++) {
      position = await write(15);
      if (round % 2 === 0) fixture.proxy.cut();
      else proxy.cut();
    }
    await expectAllSeen(runner, position);
  });

  it('when a leader loses its lock during a batch and another takes over', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let inside = 0;
    const hook = async (): Promise<void> => {
      if (inside++ === 0) await gate;
    };
    await write(10);
    const slow = start(runnerOf({ projection: projection({ hook }), database: proxied }));
    await eventually(() => inside === 1);
    const other = start(runnerOf());
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted`,
    );
    await eventually(async () => {
      const rows = await database.query(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE projections SET position%'`,
      );
      return rows.length > 0;
    });
    release();
    const position = await write(10);
    await expectAllSeen(other, position);
    expect(await slow.waitFor(position)).toBe(true);
  });

  it('when many processes compete to lead and leaders come and go', async () => {
    const stops = Array.from({ length: 6 }, () => new AbortController());
    const runners = stops.map(({ signal }) => start(runnerOf(), signal));
    let position = 0n;
    for (const leaving of stops.slice(1)) {
      position = await write(10);
      leaving.abort();
    }
    const [last] = runners;
    expect(last).toBeDefined();
    if (last !== undefined) await expectAllSeen(last, position);
    stops[0]?.abort();
  });
});
