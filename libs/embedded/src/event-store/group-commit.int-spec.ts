import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CommitSignal } from './commit-signal.js';
import { openDatabase } from './database.js';
import { EventLog } from './event-log.js';
import { GroupCommit } from './group-commit.js';
import { ANY, NO_STREAM, type ProposedEvent } from './log-event.js';
import { LogWriter, type WriteRequest } from './log-writer.js';
import { withDatabaseFile } from './store-process.fixture.js';

function proposed(bytes = 10): ProposedEvent {
  const data = Buffer.alloc(bytes, 1);
  return { id: randomBytes(16), type: 'T', isJson: false, data, metadata: Buffer.alloc(0) };
}

function append(
  stream: string,
  expected: number,
  events: readonly ProposedEvent[] = [proposed()],
): WriteRequest {
  return { kind: 'append', stream, expected, events };
}

async function withStore(use: (store: ReturnType<typeof openStore>) => Promise<void>): Promise<void> {
  await withDatabaseFile(async (file) => {
    const store = openStore(file);
    await use(store);
    store.database.close();
  });
}

function openStore(file: string) {
  const database = openDatabase(file);
  const log = new EventLog(database.db);
  const signal = new CommitSignal();
  return {
    file,
    database,
    log,
    signal,
    writes: new GroupCommit(database.db, new LogWriter(log, Date.now), signal),
  };
}

describe('group commit', () => {
  it('appends that arrive together share one flush and are numbered in order of arrival', async () => {
    await withStore(async ({ writes, log }) => {
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, index) => writes.submit(append(`s${index % 10}`, ANY))),
      );
      expect(writes.groups).toBe(1);
      expect(log.lastPosition).toBe(200);
      const positions = outcomes.map((outcome) =>
        outcome.kind === 'written' ? outcome.position : undefined,
      );
      expect(positions).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    });
  });

  it('a refused append writes nothing and does not affect its group', async () => {
    await withStore(async ({ writes, log }) => {
      const outcomes = await Promise.all([
        writes.submit(append('a', NO_STREAM, [proposed(), proposed()])),
        writes.submit(append('b', 7, [proposed(), proposed()])),
        writes.submit(append('a', 0)),
        writes.submit(append('a', 1)),
      ]);
      expect(outcomes.map(({ kind }) => kind)).toEqual([
        'written',
        'wrong-expected-revision',
        'wrong-expected-revision',
        'written',
      ]);
      expect(writes.groups).toBe(1);
      expect(log.lastPosition).toBe(3);
      expect(log.directory.find('b')).toBeUndefined();
    });
  });

  it('a retry in the same group as its original is dropped, and recognised in a later group', async () => {
    await withStore(async ({ writes, log }) => {
      for (const expected of [NO_STREAM, ANY]) {
        const request = append(`s${expected}`, expected);
        const [first, again] = await Promise.all([writes.submit(request), writes.submit(request)]);
        expect(again).toEqual({ kind: 'dropped' });
        expect(await writes.submit(request)).toEqual(first);
      }
      expect(log.lastPosition).toBe(2);
    });
  });

  it('a retry without an expected revision is recognised after a restart', async () => {
    await withDatabaseFile(async (file) => {
      const request = append('s', ANY);
      const before = openStore(file);
      const first = await before.writes.submit(request);
      before.database.close();
      const after = openStore(file);
      expect(await after.writes.submit(request)).toEqual(first);
      expect(after.log.lastPosition).toBe(1);
      after.database.close();
    });
  });

  it('readers of the streams with new events are notified once those are readable', async () => {
    await withStore(async ({ writes, log, signal }) => {
      const seen: [string, number][] = [];
      signal.listen('a', () => seen.push(['a', log.lastPosition]));
      signal.listen('b', () => seen.push(['b', log.lastPosition]));
      signal.listen(undefined, () => seen.push(['all', log.lastPosition]));
      await Promise.all([writes.submit(append('a', ANY)), writes.submit(append('b', 5))]);
      expect(seen).toEqual([
        ['all', 1],
        ['a', 1],
      ]);
    });
  });

  it('on a full disk the whole group fails and writes nothing, and the store works again once there is space', async () => {
    await withStore(async ({ writes, log, database }) => {
      const kept = append('kept', NO_STREAM);
      await writes.submit(kept);
      const pages = Number(database.db.prepare('PRAGMA page_count').get()?.['page_count']);
      database.db.exec(`PRAGMA max_page_count = ${pages + 10}`);
      const failed = await Promise.allSettled([
        writes.submit(append('small', NO_STREAM)),
        writes.submit(append('large', NO_STREAM, [proposed(1_000_000)])),
      ]);
      expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(log.directory.find('small')).toBeUndefined();
      expect(log.lastPosition).toBe(1);

      database.db.exec('PRAGMA max_page_count = 1000000');
      expect(await writes.submit(kept)).toMatchObject({ kind: 'written', position: 1 });
      expect(await writes.submit(append('small', NO_STREAM))).toMatchObject({ kind: 'written', position: 2 });
    });
  });
});
