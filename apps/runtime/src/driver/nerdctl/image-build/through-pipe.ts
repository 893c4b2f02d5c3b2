import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Uses the file at that path, until the signal aborts. */
type UsePipe = (path: string, signal: AbortSignal) => Promise<unknown>;

/**
 * Lets one program read what another one writes to a file of that name, without storing it. If one of them fails, the other
 * one is ended. Errors: those of either; the reason of `signal`.
 */
export const throughPipe = async (
  path: string,
  write: UsePipe,
  read: UsePipe,
  signal: AbortSignal,
): Promise<void> => {
  await rm(path, { force: true });
  await run('mkfifo', [path]);
  // Each of them waits for the other one.
  const failed = new AbortController();
  const together = AbortSignal.any([signal, failed.signal]);
  const both = [write(path, together), read(path, together)];
  try {
    await Promise.all(both);
  } finally {
    failed.abort();
    await Promise.allSettled(both);
    await rm(path, { force: true });
  }
  signal.throwIfAborted();
};
