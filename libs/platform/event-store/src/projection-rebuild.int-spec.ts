import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@berth/persistence';
import { eventually } from '@berth/testing';
import { historyProjection, rowsOf } from './fixtures/history-projection.js';
import {
  newEvent,
  outcomeOf,
  quietLog,
  startStoreFixture,
  type StoreFixture,
  supervised,
} from './fixtures/store-fixture.js';
import { ProjectionRunner, type Projection, type RebuildProgress } from './index.js';

const EVENTS_OF_A_STREAM = 40;
/** Few, so that a busy store does not miss the deadline of an append. */
const STREAMS_AT_ONCE = 10;

let fixture: StoreFixture;
let database: Database;
let stop: AbortController;
let running: Promise<void>[];
let category: string;
let tests = 0;

beforeAll(async () => {
  fixture = await startStoreFixture(['eventStore', 'postgres']);
});

afterAll(() => fixture.stop());

const open = (): Promise<Database> =>
  openDatabase({
    url: fixture.infra.databaseUrl,
    schema: category,
    migrations: [],
    applicationName: 'rebuild-test',
    log: quietLog,
  });

beforeEach(async () => {
  category = `page${++tests}`;
  stop = new AbortController();
  running = [];
  database = await open();
});

afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  await database.close();
});

let streams = 0;

/** Writes whole streams; each event's number is its revision. Returns the position of the last. */
const writeStreams = async (count: number): Promise<bigint> => {
  let last = 0n;
  for (let left = count; left > 0; left -= STREAMS_AT_ONCE) {
    const written = Array.from({ length: Math.min(left, STREAMS_AT_ONCE) }, writeStream);
    for (const { position } of await Promise.all(written)) if (position > last) last = position;
  }
  return last;
};

const writeStream = (): Promise<{ readonly position: bigint }> => {
  const stream = `${category}-${++streams}`;
  const events = Array.from({ length: EVENTS_OF_A_STREAM }, (_, n) => newEvent({ n }));
  // The store recognises a repeated append, so a machine under load only makes it slower.
  return eventually(() => fixture.direct.append(stream, events, 'no_stream'), { timeoutMs: 20_000 });
};

type HistoryOptions = NonNullable<Parameters<typeof historyProjection>[0]>;
const projection = (options: HistoryOptions = {}): Projection => historyProjection({ category, ...options });

const runnerOf = (history: Projection = projection(), on = database): ProjectionRunner =>
  new ProjectionRunner({ store: fixture.direct, database: on, projection: history, log: quietLog });

const start = (
  runner: ProjectionRunner,
  signal = stop.signal,
): { runner: ProjectionRunner; done: Promise<void> } => {
  const done = supervised(runner, signal);
  running.push(done);
  return { runner, done };
};

const tables = async (): Promise<string[]> => {
  const rows = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = $1 AND table_type = 'BASE TABLE' AND table_name LIKE 'history%' ORDER BY 1`,
    [category],
  );
  return rows.map(({ name }) => name);
};

const complete = Array.from({ length: EVENTS_OF_A_STREAM }, (_, n) => n);
const expectAllComplete = async (count: number): Promise<void> => {
  const rows = await rowsOf(database);
  expect(rows).toHaveLength(count);
  for (const { seen } of rows) expect(seen).toEqual(complete);
};

describe('the rows of a projection', () => {
  it('are durable at each commit while they serve, and only from the switch on while they are built', async () => {
    const commits: { readonly suffix: string; readonly commit: string }[] = [];
    const hook: HistoryOptions['hook'] = async (tx, suffix) => {
      const [row] = await tx.query<{ commit: string }>(
        `SELECT current_setting('synchronous_commit') AS commit`,
      );
      commits.push({ suffix, commit: row?.commit ?? '' });
    };
    const { runner } = start(runnerOf(projection({ hook })));
    await runner.waitFor(await writeStreams(3), 20_000);
    expect(new Set(commits.map(({ commit }) => commit))).toEqual(new Set(['on']));
    commits.length = 0;
    await runner.rebuild(() => undefined, stop.signal);
    expect(new Set(commits.map(({ suffix, commit }) => `${suffix} ${commit}`))).toEqual(
      new Set(['v1b1 off']),
    );
    commits.length = 0;
    await runner.waitFor(await writeStreams(1), 20_000);
    expect(new Set(commits.map(({ suffix, commit }) => `${suffix} ${commit}`))).toEqual(new Set(['v1b1 on']));
  });
});

describe('a rebuild', () => {
  it('equals the live tables row by row, which serve and stay live until the switch', async () => {
    const { runner } = start(runnerOf());
    await runner.waitFor(await writeStreams(100), 20_000);
    const before = await rowsOf(database);
    const progress: RebuildProgress[] = [];
    let liveDuring = 0;
    const waits: Promise<void>[] = [];
    const follow = async (): Promise<void> => {
      const position = await writeStreams(1);
      if (await runner.waitFor(position, 20_000)) liveDuring++;
    };
    // The rebuild continues only after the live tables contain a write that happened while it ran.
    const hook = (): Promise<void> | undefined => {
      waits.push(follow());
      return waits[0];
    };
    const other = runnerOf(projection({ hook: async () => hook() }));
    await other.rebuild((step) => progress.push(step), stop.signal);
    await Promise.all(waits);
    expect(liveDuring).toBe(waits.length);
    expect(waits.length).toBeGreaterThan(0);
    expect(await runner.waitFor(await writeStreams(1), 20_000)).toBe(true);
    await expectAllComplete(101 + waits.length);
    const after = new Map((await rowsOf(database)).map(({ stream, seen }) => [stream, seen]));
    for (const { stream, seen } of before) expect(after.get(stream)).toEqual(seen);
    expect(await tables()).toEqual(['history_v1b1']);
    expect(progress.at(-1)).toMatchObject({ secondsLeft: 0 });
    expect(progress.at(-1)?.applied).toBeGreaterThanOrEqual(100 * EVENTS_OF_A_STREAM);
  });

  it('never shows readers fewer rows than before', async () => {
    const { runner } = start(runnerOf());
    await runner.waitFor(await writeStreams(60), 20_000);
    let reading = true;
    const counts: number[] = [];
    const reader = (async () => {
      while (reading) {
        const [row] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM history');
        counts.push(row?.n ?? -1);
      }
    })();
    await runnerOf().rebuild(() => undefined, stop.signal);
    await runnerOf().rebuild(() => undefined, stop.signal);
    reading = false;
    await reader;
    expect(new Set(counts)).toEqual(new Set([60]));
    expect(await tables()).toEqual(['history_v1b2']);
  });

  it('works while no process runs the projection, and before the first build', async () => {
    await writeStreams(5);
    await runnerOf().rebuild(() => undefined, stop.signal);
    await expectAllComplete(5);
    expect(await runnerOf().status()).toMatchObject({ version: 1, lag: 0, rebuilding: false });
  });

  it('that fails throws the reason, leaves the serving tables unchanged and no others behind', async () => {
    const { runner } = start(runnerOf());
    await runner.waitFor(await writeStreams(5), 20_000);
    const hook = (): void => {
      throw new Error('cannot apply');
    };
    const failing = runnerOf(projection({ hook }));
    await expect(failing.rebuild(() => undefined, stop.signal)).rejects.toThrow('cannot apply');
    await expectAllComplete(5);
    expect(await tables()).toEqual(['history_v1']);
    expect(await runner.waitFor(await writeStreams(1))).toBe(true);
  });

  it('that is aborted leaves the serving tables unchanged and no others behind', async () => {
    const { runner } = start(runnerOf());
    await runner.waitFor(await writeStreams(80), 20_000);
    const off = new AbortController();
    await runnerOf().rebuild(() => off.abort(), off.signal);
    await expectAllComplete(80);
    expect(await tables()).toEqual(['history_v1']);
  });

  it('that was killed midway is restarted from the beginning by the next, which drops the leftovers', async () => {
    const { runner } = start(runnerOf());
    await runner.waitFor(await writeStreams(80), 20_000);
    await killMidway(projection(), (victim, signal) => victim.rebuild(() => undefined, signal));
    expect(await tables()).toEqual(['history_v1', 'history_v1b1']);
    await runnerOf().rebuild(() => undefined, stop.signal);
    await expectAllComplete(80);
    expect(await tables()).toHaveLength(1);
  });

  it('that was killed midway leaves no tables behind once the projection is started again', async () => {
    await writeStreams(80);
    await runnerOf().rebuild(() => undefined, stop.signal);
    await killMidway(projection(), (victim, signal) => victim.rebuild(() => undefined, signal));
    expect(await tables()).toHaveLength(2);
    start(runnerOf());
    await eventually(async () => (await tables()).length === 1);
    await expectAllComplete(80);
  });

  it('requested twice concurrently runs twice, sequentially', async () => {
    await writeStreams(5);
    await Promise.all([1, 2].map(() => runnerOf().rebuild(() => undefined, stop.signal)));
    await expectAllComplete(5);
    expect(await tables()).toHaveLength(1);
  });
});

/** Lets work continue until its second batch and then disconnects its database, as when its process is killed. */
const killMidway = async (
  history: Projection,
  work: (victim: ProjectionRunner, signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const victimDatabase = await open();
  const killed = new AbortController();
  let batches = 0;
  let dead: Promise<void> | undefined;
  const dying: Projection = {
    ...history,
    apply: async (tx, suffix, events) => {
      await history.apply(tx, suffix, events);
      if (++batches < 2) return;
      killed.abort();
      dead ??= victimDatabase.close();
      throw new Error('killed');
    },
  };
  const victim = runnerOf(dying, victimDatabase);
  await outcomeOf(work(victim, killed.signal));
  await dead;
  expect(batches).toBeGreaterThanOrEqual(2);
};

describe('a new version', () => {
  const shouting = (options: HistoryOptions = {}): Projection => {
    const history = projection({ ...options, version: 2 });
    return {
      ...history,
      publish: async (tx, suffix) => {
        await tx.query('DROP VIEW IF EXISTS history');
        await tx.query(`CREATE VIEW history AS SELECT stream, seen, 2 AS version FROM history_${suffix}`);
      },
    };
  };

  it('is built next to the old one, which serves until the switch', async () => {
    const old = new AbortController();
    const first = start(runnerOf(), old.signal);
    await first.runner.waitFor(await writeStreams(30), 20_000);
    old.abort();
    await first.done;
    let servedMeanwhile = 0;
    const hook = async (): Promise<void> => {
      servedMeanwhile = (await rowsOf(database)).length;
    };
    const { runner } = start(runnerOf(shouting({ hook })));
    await eventually(async () => expect(await runner.status()).toMatchObject({ version: 2, lag: 0 }));
    expect(servedMeanwhile).toBe(30);
    await expectAllComplete(30);
    expect(await database.query('SELECT DISTINCT version FROM history')).toEqual([{ version: 2 }]);
    expect(await tables()).toEqual(['history_v2']);
    expect(await runner.waitFor(await writeStreams(1))).toBe(true);
  });

  it('resumes where it was when its process is killed while building', async () => {
    await writeStreams(100);
    await runnerOf().rebuild(() => undefined, stop.signal);
    await killMidway(shouting(), (victim, signal) => victim.run(signal));
    const [left] = await database.query<{ position: string }>(
      `SELECT position FROM projections WHERE state = 'building'`,
    );
    expect(Number(left?.position)).toBeGreaterThan(0);
    let applied = 0;
    const { runner } = start(
      runnerOf(shouting({ hook: (_, __, events) => void (applied += events.length) })),
    );
    await eventually(async () => expect(await runner.status()).toMatchObject({ version: 2, lag: 0 }));
    await expectAllComplete(100);
    expect(applied).toBeGreaterThan(0);
    expect(applied).toBeLessThan(100 * EVENTS_OF_A_STREAM);
  });

  it('makes older processes stop leading: they write nothing, refuse to rebuild, and end waits immediately', async () => {
    const { runner } = start(runnerOf(shouting()));
    await runner.waitFor(await writeStreams(3), 20_000);
    const old = start(runnerOf()).runner;
    const position = await writeStreams(1);
    expect(await runner.waitFor(position)).toBe(true);
    const began = performance.now();
    expect(await old.waitFor(position, 60_000)).toBe(false);
    expect(performance.now() - began).toBeLessThan(20_000);
    const { failure } = await outcomeOf(old.rebuild(() => undefined, stop.signal));
    expect(failure).toMatchObject({ kind: 'conflict', code: 'newer_version_serves' });
    expect(await tables()).toEqual(['history_v2']);
  });
});
