import { randomUUID } from 'node:crypto';
import { type EventStoreDBClient, jsonEvent, type JSONEventData } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { CREDENTIALS } from '../event-store-contract/store-fixture.js';
import { connect, startStoreProcess, withDatabaseFile } from './store-process.fixture.js';

const SEEDS = 12;
const WRITERS = 6;

interface Journal {
  readonly stream: string;
  readonly acknowledged: string[];
  /** The append that was under way when the store died; it may have happened or not. */
  inDoubt: string[];
}

describe('a store killed while appends are in flight', () => {
  it('has every acknowledged append afterwards, once and in order, and goes on from there', async () => {
    await withDatabaseFile(async (file) => {
      let lastPosition = 0n;
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const journals = await appendUntilKilled(file, seed);
        expect(journals.some(({ acknowledged }) => acknowledged.length > 0)).toBe(true);
        lastPosition = await checkAfterRestart(file, journals, lastPosition);
      }
    });
  });
});

async function appendUntilKilled(file: string, seed: number): Promise<Journal[]> {
  const store = await startStoreProcess(file);
  const client = connect(store.port);
  const journals = Array.from({ length: WRITERS }, (_, writer) => ({
    stream: `crash-${seed}.${writer}`,
    acknowledged: [],
    inDoubt: [],
  }));
  const writers = journals.map((journal, index) => appendUntilRefused(client, journal, (index % 3) + 1));
  // A moment that differs from seed to seed but not from run to run: after so many acknowledged events.
  const enough = 5 + ((seed * 7_919) % 120);
  const reached = async (): Promise<void> => {
    while (journals.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0) < enough) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await reached();
  await store.end('SIGKILL');
  await Promise.all(writers);
  await client.dispose();
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

async function checkAfterRestart(file: string, journals: readonly Journal[], after: bigint): Promise<bigint> {
  const store = await startStoreProcess(file);
  const client = connect(store.port);
  let last = after;
  const idsByStream = new Map<string, string[]>();
  for await (const { event } of client.readAll()) {
    if (event === undefined || event.position === undefined) continue;
    const ids = idsByStream.get(event.streamId) ?? [];
    expect(event.revision).toBe(BigInt(ids.length));
    idsByStream.set(event.streamId, [...ids, event.id]);
    last = event.position.commit > last ? event.position.commit : last;
  }
  for (const { stream, acknowledged, inDoubt } of journals) {
    const stored = idsByStream.get(stream) ?? [];
    const withDoubt = [...acknowledged, ...inDoubt];
    // An append is there whole or not at all.
    expect(stored).toEqual(stored.length > acknowledged.length ? withDoubt : acknowledged);
  }
  const [first] = journals;
  const again = await client.appendToStream(first?.stream ?? '', eventsOf(1), { credentials: CREDENTIALS });
  expect(again.position?.commit).toBe(last + 1n);
  await client.dispose();
  await store.end('SIGKILL');
  return last + 1n;
}
