import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OnLoss, SharedServer } from './shared-server.js';

const PROGRAM = fileURLToPath(new URL('../../dist/shared-infra/event-logs.entry.js', import.meta.url));

/** Starts a process in which each lease gets an embedded event store with its own log and port. */
export const startSharedEventLogs = async (folder: string, onLoss: OnLoss): Promise<SharedServer> => {
  const files = await mkdtemp(join(folder, 'event-logs-'));
  const child = fork(PROGRAM, [files], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const stopping = new AbortController();
  child.once('exit', (code, signal) => {
    if (!stopping.signal.aborted)
      onLoss(`The shared event store of the tests ended unexpectedly (${String(signal ?? code)}).`);
  });
  const request = async (what: 'open' | 'close'): Promise<unknown> => {
    if (!child.connected) throw new Error('The shared event store of the tests has ended.');
    const ended = AbortSignal.any([AbortSignal.timeout(30_000), stopping.signal]);
    const reply = once(child, 'message', { signal: ended });
    child.send(what);
    const [message]: unknown[] = await reply;
    return message;
  };
  return {
    open: async () => {
      const port = await request('open');
      return {
        url: `esdb://127.0.0.1:${String(port)}?tls=false`,
        remove: async () => void (await request('close')),
      };
    },
    stop: async () => {
      stopping.abort();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
};
