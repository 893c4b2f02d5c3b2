import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { jsonEvent } from '@eventstore/db-client';
import { describe, expect, it, vi } from 'vitest';
import { rejection } from '../event-store-contract/store-fixture.js';
import { connect, isAlive, PROGRAM, startStoreProcess, withDatabaseFile } from './store-process.fixture.js';

const event = () => jsonEvent({ type: 'Happened', data: {} });

describe('the event store process', () => {
  it('ends cleanly on SIGTERM with every acknowledged append on disk', async () => {
    await withDatabaseFile(async (file) => {
      const store = await startStoreProcess(file);
      const client = connect(store.port);
      const subscription = client.subscribeToAll();
      subscription.on('error', () => undefined);
      const appends = await Promise.all(
        Array.from({ length: 50 }, () => client.appendToStream('s', event())),
      );
      expect(await store.end('SIGTERM')).toBe(0);
      await client.dispose();

      const again = await startStoreProcess(file);
      const reader = connect(again.port);
      let count = 0;
      for await (const _ of reader.readStream('s')) count += 1;
      expect(count).toBe(appends.length);
      await reader.dispose();
      await again.end('SIGTERM');
    });
  });

  it('notifies subscribers that it shuts down, so that they reconnect', async () => {
    await withDatabaseFile(async (file) => {
      const store = await startStoreProcess(file);
      const client = connect(store.port);
      const subscription = client.subscribeToAll();
      const failed = once(subscription, 'error').catch((error: unknown) => [error]);
      await once(subscription, 'caughtUp');
      await store.end('SIGTERM');
      expect((await failed)[0]).toMatchObject({ type: 'unavailable' });
      await client.dispose();
    });
  });

  it('refuses a file that another live process has open, and opens it once that process was killed', async () => {
    await withDatabaseFile(async (file) => {
      const store = await startStoreProcess(file);
      const refused = await rejection(startStoreProcess(file));
      expect(refused.message).toContain('another process has the event store');
      await store.end('SIGKILL');
      const next = await startStoreProcess(file);
      await next.end('SIGTERM');
    });
  });

  it('refuses a file that a newer version wrote and a foreign database', async () => {
    await withDatabaseFile(async (file) => {
      await (await startStoreProcess(file)).end('SIGTERM');
      const db = new DatabaseSync(file);
      db.exec('PRAGMA user_version = 99');
      db.close();
      expect((await rejection(startStoreProcess(file))).message).toContain('schema version 99');

      const other = new DatabaseSync(`${file}.other`);
      other.exec('CREATE TABLE notes (text TEXT)');
      other.close();
      expect((await rejection(startStoreProcess(`${file}.other`))).message).toContain('not an event store');
    });
  });

  it('with --exit-with-parent does not outlive a killed parent', async () => {
    await withDatabaseFile(async (file) => {
      const script = `
        const { spawn } = require('node:child_process');
        const args = [${JSON.stringify(PROGRAM)}, '--file', ${JSON.stringify(file)}, '--exit-with-parent'];
        const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        child.stdout.once('data', () => console.log(child.pid));
      `;
      const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      expect(isAlive(pid)).toBe(true);
      parent.kill('SIGKILL');
      await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000, interval: 20 });
    });
  });

  it('exits immediately without a file and names the missing setting', async () => {
    const child = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
    const [printed] = (await once(child.stderr, 'data')) as [Buffer];
    const [code] = (await once(child, 'exit')) as [number];
    expect(printed.toString()).toContain('BERTH_EVENT_STORE_FILE');
    expect(code).toBe(1);
  });

  it('keeps its memory bounded when many readers request much and read nothing', async () => {
    await withDatabaseFile(async (file) => {
      const store = await startStoreProcess(file);
      const client = connect(store.port);
      const text = 'x'.repeat(1_000_000);
      for (let n = 0; n < 20; n += 1)
        await client.appendToStream('large', jsonEvent({ type: 'Large', data: { text } }));
      const before = await residentBytes(store.child.pid);
      const readers = Array.from({ length: 20 }, () => connect(store.port));
      const confirmed = readers.map((reader) => {
        const reading = reader.readStream('large', {}, { highWaterMark: 1 });
        reading.on('error', () => undefined);
        return once(reading, 'readable');
      });
      await Promise.all(confirmed);
      // Without a bound, the server would now hold 20 x 20 MB.
      expect((await residentBytes(store.child.pid)) - before).toBeLessThan(150_000_000);
      expect((await client.appendToStream('small', event())).success).toBe(true);
      await Promise.all(readers.map((reader) => reader.dispose()));
      await client.dispose();
      await store.end('SIGTERM');
    });
  });
});

async function residentBytes(pid: number | undefined): Promise<number> {
  const ps = spawn('ps', ['-o', 'rss=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [chunk] = (await once(ps.stdout, 'data')) as [Buffer];
  return Number(chunk.toString()) * 1024;
}
