import { openDatabase, type Database } from '@berth/persistence';
import { createLogger, type Logger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { historyProjection, rowsOf } from './fixtures/history-projection.js';
import {
  newEvent,
  newStream,
  quietLog,
  startStoreFixture,
  type StoreFixture,
  supervised,
} from './fixtures/store-fixture.js';
import { ProjectionRunner } from './index.js';

let fixture: StoreFixture;
let database: Database;
let schemas = 0;
let category: string;
let stop: AbortController;
let running: Promise<void>[];

beforeAll(async () => {
  fixture = await startStoreFixture(['eventStore', 'postgres']);
});

afterAll(() => fixture.stop());

beforeEach(async () => {
  category = `ready${++schemas}`;
  stop = new AbortController();
  running = [];
  database = await openDatabase({
    url: fixture.infra.databaseUrl,
    schema: category,
    migrations: [],
    applicationName: 'readiness-test',
    log: quietLog,
  });
});

afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  await database.close();
});

const write = async (of: string, count: number): Promise<void> => {
  const events = Array.from({ length: count }, (_, n) => newEvent({ n }));
  await fixture.direct.append(newStream(of), events, 'no_stream');
};

/** A projection that applies events only after it is opened. */
class Gate {
  readonly #open = Promise.withResolvers<void>();
  readonly open = this.#open.resolve;
  readonly projection = historyProjection({ category, hook: () => this.#open.promise });
}

const runnerOf = (projection = historyProjection({ category }), log: Logger = quietLog): ProjectionRunner =>
  new ProjectionRunner({ store: fixture.direct, database, projection, log });

const lead = (runner: ProjectionRunner): ProjectionRunner => {
  running.push(supervised(runner, stop.signal));
  return runner;
};

/** Collects log lines instead of writing them to standard output. */
const recordingLog = (): { log: Logger; lines: string[] } => {
  const lines: string[] = [];
  const log = createLogger({ service: 'test', level: 'warn' });
  log.warn = (...given: unknown[]) => void lines.push(given.map((part) => JSON.stringify(part)).join(' '));
  return { log, lines };
};

describe('waiting until a projection has caught up', () => {
  it('lasts until the tables contain everything that the log held when it began, and logs its progress', async () => {
    await write(category, 300);
    const gate = new Gate();
    const { log, lines } = recordingLog();
    const runner = lead(runnerOf(gate.projection, log));
    let ready = false;
    const waiting = runner.untilCaughtUp(stop.signal).then(() => (ready = true));
    await eventually(() => expect(lines.join('\n')).toMatch(/Not ready yet: history has read \d+ %/));
    expect(ready).toBe(false);
    gate.open();
    await waiting;
    expect((await rowsOf(database)).map(({ seen }) => seen.length)).toEqual([300]);
  });

  it('ends in a process that does not write the tables itself', async () => {
    await write(category, 10);
    lead(runnerOf());
    await runnerOf().untilCaughtUp(stop.signal);
    expect(await rowsOf(database)).toHaveLength(1);
  });

  it.each([1, 10, 500])(
    'ends although the last %s events of the log belong to other categories',
    async (others) => {
      await write(category, 10);
      await write('someoneElse', others);
      await lead(runnerOf()).untilCaughtUp(stop.signal);
      expect(await rowsOf(database)).toHaveLength(1);
    },
  );

  it('ends when the process stops', async () => {
    await write(category, 1);
    const gate = new Gate();
    const waiting = lead(runnerOf(gate.projection)).untilCaughtUp(stop.signal);
    const reason = new Error('The process stops.');
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    gate.open();
  });
});
