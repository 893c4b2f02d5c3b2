import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { DriverError } from '../driver-error.js';
import { readProcess, type ProcessIdentity } from '../process-table.js';

/** Input for launching a guest. The values of `env` are not secret. */
export interface GuestLaunch {
  readonly script: string;
  /** File for the guest's output; truncated first. */
  readonly log: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a guest that outlives this process: in its own session, without pipes to us. */
export const launchGuest = async (
  launch: GuestLaunch,
): Promise<{ readonly identity: ProcessIdentity; readonly gone: Promise<void> }> => {
  const log = await open(launch.log, 'w', 0o600);
  try {
    const child = spawn('/bin/sh', ['-c', launch.script], {
      cwd: '/',
      env: launch.env,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    const gone = Promise.withResolvers<void>();
    child.once('exit', () => gone.resolve());
    child.once('error', () => gone.resolve());
    child.unref();
    const identity = child.pid === undefined ? undefined : await readProcess(child.pid);
    if (identity === undefined)
      throw new DriverError('guest_not_started', 'The guest exited immediately after its launch.');
    return { identity, gone: gone.promise };
  } finally {
    await log.close();
  }
};

/** Whether a program of that name can be executed. */
export const toolExists = async (name: string): Promise<boolean> => {
  const probe = spawn(name, ['--version'], { stdio: 'ignore' });
  return Promise.race([
    once(probe, 'exit').then(([code]) => code === 0),
    once(probe, 'error').then(() => false),
  ]).catch(() => false);
};
