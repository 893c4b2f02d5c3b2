import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { LOOPBACK } from '@berth/host-requirements';
import { childEnvironment } from './supervision/child-environment.js';
import type { PartContext, PartPlan } from './part.js';

// Always the built program, even when this file runs as source: the child is a plain Node process.
const PROGRAM = createRequire(import.meta.url).resolve('@berth/embedded/event-store');

/** Plans the event log: our own EventStoreDB-compatible server, with its file under `<dataDir>/event-store`. */
export function planEventStore(context: PartContext): PartPlan {
  const folder = join(context.dataDir, 'event-store');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    name: 'event-store',
    url: (port) => `esdb://${LOOPBACK}:${port}?tls=false`,
    ending: [{ signal: 'SIGTERM', waitMs: 4000 }],
    spec: (port) => ({
      command: process.execPath,
      args: [PROGRAM, '--file', join(folder, 'events.db'), '--port', String(port), '--exit-with-parent'],
      cwd: folder,
      env: childEnvironment(),
      ready: (child, signal) => untilAnnounced(child, port, signal),
    }),
  };
}

/** The server prints one line of JSON with its port once it listens. */
async function untilAnnounced(child: ChildProcess, port: number, signal: AbortSignal): Promise<void> {
  if (!child.stdout) throw new Error('it has no output to read');
  const lines = createInterface({ input: child.stdout, signal });
  for await (const line of lines) {
    if (announcedPort(line) === port) return;
  }
  signal.throwIfAborted();
}

function announcedPort(line: string): unknown {
  try {
    return (JSON.parse(line) as { port?: unknown }).port;
  } catch {
    return undefined;
  }
}
