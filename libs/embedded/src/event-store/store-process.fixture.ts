import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient } from '@eventstore/db-client';

/** The built program, because that is what runs in production. */
export const PROGRAM = fileURLToPath(new URL('../../dist/event-store/main.js', import.meta.url));

/** Runs a test with a database file in a temporary folder. */
export async function withDatabaseFile<T>(use: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-event-store-'));
  try {
    return await use(join(folder, 'events.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An event store that runs as a separate process. */
export interface StoreProcess {
  readonly child: ChildProcess;
  readonly port: number;
  /** Sends `signal` and returns the exit code (null when the signal ended it). */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts the program and waits until it listens. Rejects with its output when it ends first. */
export async function startStoreProcess(file: string, ...args: string[]): Promise<StoreProcess> {
  // Ends with the test runner, so a failing test leaves no process behind.
  const child = spawn(process.execPath, [PROGRAM, '--file', file, '--exit-with-parent', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let printed = '';
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const line = await Promise.race([
    once(child.stdout, 'data').then(([chunk]) => String(chunk)),
    once(child, 'close').then(() => Promise.reject(new Error(printed))),
  ]);
  return {
    child,
    port: (JSON.parse(line) as { port: number }).port,
    end: async (signal) => {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}

/** A client for a store on this machine. */
export function connect(port: number, options = ''): EventStoreDBClient {
  return EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false${options}`);
}

/** Whether a process with that id runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
