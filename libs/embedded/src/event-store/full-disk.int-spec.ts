import { join } from 'node:path';
import { jsonEvent, type EventStoreDBClient } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDataDir } from '../embedded-bench.fixture.js';
import { rejection } from '../event-store-contract/store-fixture.js';
import { SmallDisk, type MemoryDisk } from '../testing/small-disk.js';
import { connect, startStoreProcess, type StoreProcess } from './store-process.fixture.js';

const FULL = expect.stringContaining('The disk of the event store is full.') as string;

const countIn = async (client: EventStoreDBClient): Promise<number> => {
  let count = 0;
  for await (const _ of client.readStream('s')) count += 1;
  return count;
};

const SIZES: [string, MemoryDisk, (disk: SmallDisk) => void][] = [
  ['space', { mb: 64 }, (disk) => disk.fill()],
  ['inodes', { mb: 64, inodes: 200 }, (disk) => disk.fillInodes()],
];

describe.each(SIZES)('while the disk of the event store has no %s', (_what, size, fill) => {
  const folder = temporaryDataDir();
  let disk: SmallDisk;
  let store: StoreProcess;
  let client: EventStoreDBClient;
  const file = (): string => join(folder.dataDir, 'events.db');

  beforeEach(async () => {
    disk = SmallDisk.inMemory(folder.dataDir, size);
    store = await startStoreProcess(file());
    client = connect(store.port);
  });
  afterEach(async () => {
    await client.dispose();
    await store.end('SIGTERM');
    disk.unmount();
    folder.remove();
  });

  const append = async (): Promise<void> => {
    await client.appendToStream('s', jsonEvent({ type: 'Happened', data: { text: 'x'.repeat(50_000) } }));
  };

  it('an append is refused as such, reads go on, and a killed process starts again with every acknowledged event', async () => {
    await append();
    await append();
    fill(disk);
    expect((await rejection(append())).message).toEqual(FULL);
    expect(await countIn(client)).toBe(2);

    // Without its working files, it needs room to start.
    disk.free();
    await append();
    fill(disk);
    await store.end('SIGKILL');
    await client.dispose();
    store = await startStoreProcess(file());
    client = connect(store.port);
    expect(await countIn(client)).toBe(3);
    expect((await rejection(append())).message).toEqual(FULL);

    disk.free();
    await append();
    expect(await countIn(client)).toBe(4);
  });
});
