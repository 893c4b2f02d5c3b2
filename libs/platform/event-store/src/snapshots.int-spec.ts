import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import type { EventStreams } from './event-streams.js';
import { SnapshotTable, type EventStore } from './index.js';
import { newEvent, quietLog, startStoreFixture, type StoreFixture } from './fixtures/store-fixture.js';
import {
  commandMeta,
  newTally,
  storeWith,
  tallyCodec,
  tallyHandler,
  watchedStore,
  type Added,
  type TallyCommand,
} from './fixtures/tally-fixture.js';

/** A snapshot after this many events. */
const EVERY = 4;

type Handler = EventStreams<number, TallyCommand, Added>;

let fixture: StoreFixture;
let database: Database;
let table: SnapshotTable;
let schemas = 0;
let id: string;
let stream: string;

beforeAll(async () => {
  fixture = await startStoreFixture(['eventStore', 'postgres']);
  database = await open();
});

afterAll(async () => {
  await database.close();
  await fixture.stop();
});

beforeEach(() => {
  table = new SnapshotTable(database, quietLog);
  id = newTally();
  stream = `tally-${id}`;
});

const open = (): Promise<Database> =>
  openDatabase({
    url: fixture.infra.databaseUrl,
    schema: `snapshots${++schemas}`,
    migrations: [],
    applicationName: 'snapshot-test',
    log: quietLog,
  });

/** A process that has just started: it has no state in memory. */
const newProcess = (store: EventStore = fixture.direct, version = 1, snapshots = table): Handler =>
  tallyHandler(store, { snapshots: { table: snapshots, version, every: EVERY } });

/** Executes commands that add 1 each; their ids are `cmd_<first>`, `cmd_<first + 1>` and so on. */
const add = async (handler: Handler, count: number, first = 0): Promise<void> => {
  for (let n = first; n < first + count; n++) await handler.handle(id, { add: 1 }, commandMeta(`cmd_${n}`));
};

/** Waits for a snapshot at `revision` or later. */
const untilStored = (revision: number): Promise<void> =>
  eventually(async () => expect(Number((await stored())?.revision)).toBeGreaterThanOrEqual(revision));

interface Row {
  readonly version: number;
  readonly revision: string;
  readonly event_id: string;
}

const stored = async (): Promise<Row | undefined> => {
  const rows = await database.query<Row>(
    `SELECT version, revision::text AS revision, event_id FROM stream_snapshots WHERE stream = $1`,
    [stream],
  );
  expect(rows.length).toBeLessThanOrEqual(1);
  return rows[0];
};

/** Loads the tally in a new process; returns the result and the calls made on the store. */
const loadInNewProcess = async (
  version = 1,
): Promise<{ state: number; revision: bigint | null; calls: string[] }> => {
  const { store, calls } = watchedStore(fixture.direct);
  return { ...(await newProcess(store, version).load(id)), calls };
};

/** Writes a snapshot whose state differs from the history, so that a test can see whether it was used. */
const plant = async (revision: bigint, eventId: string, version = 1): Promise<void> =>
  table.save({ stream, version }, { revision, eventId, body: '{"state":500,"commands":[]}' });

const eventIdAt = async (revision: number): Promise<string> =>
  (await fixture.direct.read(stream))[revision]?.id ?? '';

describe('a snapshot', () => {
  it('makes a load read only the newest events, whatever the length of the stream', async () => {
    await add(newProcess(), 100);
    await eventually(async () =>
      expect(await loadInNewProcess()).toEqual({
        state: 100,
        revision: 99n,
        calls: [`read the last ${EVERY + 1}`],
      }),
    );
  });

  it('is stored after a load, too, so that the next load is short', async () => {
    await add(tallyHandler(fixture.direct), 20);
    const first = await loadInNewProcess();
    expect(first.calls).toEqual([`read the last ${EVERY + 1}`, 'read from the start']);
    await untilStored(19);
    expect((await loadInNewProcess()).calls).toEqual([`read the last ${EVERY + 1}`]);
  });

  it('that is older than the newest events is completed with the events after it', async () => {
    await add(newProcess(), EVERY);
    await untilStored(EVERY - 1);
    await add(tallyHandler(fixture.direct), 20, EVERY);
    const { state, calls } = await loadInNewProcess();
    expect({ state, calls }).toEqual({
      state: 20 + EVERY,
      calls: [`read the last ${EVERY + 1}`, `read from ${EVERY - 1}`],
    });
  });

  it('contains the recent commands: another process recognises one that precedes the snapshot', async () => {
    await add(newProcess(), 20);
    await eventually(async () => expect((await loadInNewProcess()).calls).toHaveLength(1));
    const repeated = await newProcess().handle(id, { add: 1 }, commandMeta('cmd_3'));
    expect(repeated).toMatchObject({ replayed: true, state: 20, events: [{ amount: 1 }], revision: 19n });
  });

  it('is not stored for a short stream, and its table is not read for one', async () => {
    const closed = await open();
    await closed.close();
    await add(newProcess(), EVERY - 1);
    const handler = newProcess(fixture.direct, 1, new SnapshotTable(closed, quietLog));
    expect(await handler.load(id)).toEqual({ state: EVERY - 1, revision: BigInt(EVERY - 2) });
    expect(await stored()).toBeUndefined();
  });
});

describe('the state is folded from the whole stream when the snapshot', () => {
  const history = (): Promise<void> => add(tallyHandler(fixture.direct), 20);
  const everything = { state: 20, revision: 19n };

  it('does not belong to the stream; one that does is used (this makes the next tests meaningful)', async () => {
    await history();
    await plant(19n, await eventIdAt(19));
    expect(await loadInNewProcess()).toMatchObject({ state: 500, revision: 19n });
  });

  it('is of another version of the decider', async () => {
    await history();
    await plant(19n, await eventIdAt(19), 2);
    expect(await loadInNewProcess(1)).toMatchObject(everything);
    expect(await loadInNewProcess(3)).toMatchObject(everything);
  });

  it('has another event at its revision, as after the log was replaced', async () => {
    await history();
    await plant(18n, newEvent().id);
    expect(await loadInNewProcess()).toMatchObject(everything);
    await plant(2n, await eventIdAt(3));
    expect(await loadInNewProcess()).toMatchObject(everything);
  });

  it('is beyond the end of the stream, as after the log was restored, and is replaced then', async () => {
    await history();
    await plant(4_000n, newEvent().id);
    expect(await loadInNewProcess()).toMatchObject(everything);
    await eventually(async () => expect((await stored())?.revision).toBe('19'));
    expect(await loadInNewProcess()).toMatchObject({ ...everything, calls: [`read the last ${EVERY + 1}`] });
  });

  it.each([
    ['body', `body = replace(body, '500', '501')`],
    ['event id', `event_id = 'x'`],
    ['revision', 'revision = 18'],
    ['body and checksum', `body = '{', checksum = ''`],
  ])('has a damaged %s', async (_, damage) => {
    await history();
    await plant(19n, await eventIdAt(19));
    await database.query(`UPDATE stream_snapshots SET ${damage} WHERE stream = $1`, [stream]);
    expect(await loadInNewProcess()).toMatchObject(everything);
  });

  it('is lost because the table was truncated or dropped', async () => {
    await history();
    await plant(19n, await eventIdAt(19));
    await database.query('TRUNCATE stream_snapshots');
    expect(await loadInNewProcess()).toMatchObject(everything);
    await untilStored(19);
    await database.query('DROP TABLE stream_snapshots');
    expect(await loadInNewProcess()).toMatchObject(everything);
    table = new SnapshotTable(database, quietLog);
    expect(await loadInNewProcess()).toMatchObject(everything);
    await untilStored(19);
  });

  it('cannot be read because the database is down', async () => {
    await history();
    const closed = await open();
    await closed.close();
    const handler = newProcess(fixture.direct, 1, new SnapshotTable(closed, quietLog));
    expect(await handler.load(id)).toEqual(everything);
  });
});

describe('storing a snapshot', () => {
  it('drops those of earlier versions of the decider', async () => {
    await add(newProcess(), 8);
    await untilStored(EVERY - 1);
    await add(newProcess(fixture.direct, 2), 8, 8);
    await eventually(async () => expect(await stored()).toMatchObject({ version: 2 }));
  });

  it('delays no command and, if it fails, fails no command', async () => {
    const blocked = await open();
    const blockedTable = new SnapshotTable(blocked, quietLog);
    await add(newProcess(fixture.direct, 1, blockedTable), EVERY);
    await eventually(async () =>
      expect((await blocked.query('SELECT 1 FROM stream_snapshots')).length).toBe(1),
    );
    const lock = await blocked.connect();
    try {
      await lock.query('BEGIN');
      await lock.query('LOCK TABLE stream_snapshots IN ACCESS EXCLUSIVE MODE');
      const handler = newProcess(fixture.direct, 1, blockedTable);
      await add(handler, 40, EVERY);
      expect(await handler.load(id)).toMatchObject({ state: 40 + EVERY });
    } finally {
      await lock.close();
      await blocked.close();
    }
  });

  it('does not happen for a state that JSON would change', async () => {
    const warnings: string[] = [];
    const log = Object.assign(Object.create(quietLog) as Logger, {
      warn: (_: object, message: string) => void warnings.push(message),
    });
    const handler = tallyHandler(fixture.direct, {
      snapshots: { table: new SnapshotTable(database, log), version: 1, every: EVERY },
      codec: { ...tallyCodec, fromStored: () => ({ amount: Number.NaN }) },
    });
    await add(handler, EVERY);
    await eventually(() => expect(warnings).toEqual(['could not store a snapshot']));
    expect(await stored()).toBeUndefined();
  });
});

describe('processes on one stream with snapshots', () => {
  it('execute every command once, whichever of them stores or uses a snapshot', async () => {
    const slow = storeWith(fixture.direct, {
      readLast: async (name, count) => {
        const read = await fixture.direct.readLast(name, count);
        await new Promise((resolve) => setImmediate(resolve));
        return read;
      },
    });
    const commands = Array.from({ length: 60 }, (_, n) => n);
    for (let n = 0; n < commands.length; n += 3) {
      const handler = newProcess(n % 2 === 0 ? slow : fixture.direct);
      const sent = commands.slice(Math.max(0, n - 3), n + 3);
      await Promise.all(sent.map((c) => handler.handle(id, { add: 1 }, commandMeta(`cmd_${c}`))));
    }
    expect((await fixture.direct.read(stream)).length).toBe(commands.length);
    expect((await loadInNewProcess()).state).toBe(commands.length);
  });
});
