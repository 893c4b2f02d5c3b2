import { randomUUID } from 'node:crypto';
import { type EventStoreDBClient, jsonEvent, type JSONEventData } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { CREDENTIALS } from '../event-store-contract/store-fixture.js';
import { connect, startStoreProcess, type StoreProcess, withDatabaseFile } from './store-process.fixture.js';

const WRITERS = 6;

interface Journal {
  readonly stream: string;
  readonly acknowledged: string[];
  /** The append in progress when the store died; it may or may not have been written. */
  inDoubt: string[];
}

/** Kills a store on one database file once after so many acknowledged events each, while appends are in flight. */
export const describeCrashes = (kills: readonly number[]): void => {
  describe('a store killed while appends are in flight', () => {
    it(
      'has every acknowledged append after a restart, once and in order, and continues from there',
      { timeout: 600_000 },
      async () => {
        await withDatabaseFile(async (file) => {
          let journals: Journal[] = [];
          let lastPosition = 0n;
          for (const [index, enough] of kills.entries()) {
            const store = await startStoreProcess(file);
            const client = connect(store.port);
            lastPosition = await checkAfterRestart(client, journals, lastPosition);
            journals = await appendUntilKilled(store, client, { round: index, enough });
            await client.dispose();
            expect(journals.some(({ acknowledged }) => acknowledged.length > 0)).toBe(true);
          }
          const store = await startStoreProcess(file);
          const client = connect(store.port);
          await checkAfterRestart(client, journals, lastPosition);
          await client.dispose();
          await store.end('SIGTERM');
        });
      },
    );
  });
};

async function appendUntilKilled(
  store: StoreProcess,
  client: EventStoreDBClient,
  { round, enough }: { readonly round: number; readonly enough: number },
): Promise<Journal[]> {
  const journals = Array.from({ length: WRITERS }, (_, writer) => ({
    stream: `crash-${round}.${writer}`,
    acknowledged: [],
    inDoubt: [],
  }));
  const writers = journals.map((journal, index) => appendUntilRefused(client, journal, (index % 3) + 1));
  while (journals.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0) < enough) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await store.end('SIGKILL');
  await Promise.all(writers);
  return journals;
}

async function appendUntilRefused(client: EventStoreDBClient, journal: Journal, size: number): Promise<void> {
  let revision = -1;
  for (;;) {
    const events = eventsOf(size);
    journal.inDoubt = events.map(({ id }) => id);
    try {
      const expectedRevision = revision < 0 ? 'no_stream' : BigInt(revision);
      await client.appendToStream(journal.stream, events, { expectedRevision, credentials: CREDENTIALS });
    } catch {
      return;
    }
    revision += size;
    journal.acknowledged.push(...journal.inDoubt);
    journal.inDoubt = [];
  }
}

function eventsOf(size: number): JSONEventData[] {
  return Array.from({ length: size }, () => jsonEvent({ id: randomUUID(), type: 'Counted', data: {} }));
}

async function checkAfterRestart(
  client: EventStoreDBClient,
  journals: readonly Journal[],
  after: bigint,
): Promise<bigint> {
  let last = after;
  const idsByStream = new Map<string, string[]>();
  for await (const { event } of client.readAll()) {
    if (event === undefined || event.position === undefined) continue;
    const ids = idsByStream.get(event.streamId) ?? [];
    expect(event.revision).toBe(BigInt(ids.length));
    ids.push(event.id);
    idsByStream.set(event.streamId, ids);
    last = event.position.commit > last ? event.position.commit : last;
  }
  for (const { stream, acknowledged, inDoubt } of journals) {
    const stored = idsByStream.get(stream) ?? [];
    const withDoubt = [...acknowledged, ...inDoubt];
    // An append is stored completely or not at all.
    expect(stored).toEqual(stored.length > acknowledged.length ? withDoubt : acknowledged);
  }
  const next = await client.appendToStream('crash', eventsOf(1), { credentials: CREDENTIALS });
  expect(next.position?.commit).toBe(last + 1n);
  return last + 1n;
}
