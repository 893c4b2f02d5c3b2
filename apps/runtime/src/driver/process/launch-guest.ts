import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { readProcess, type ProcessIdentity } from './process-table.js';

/** What to launch; the values of `env` are no secrets. */
export interface GuestLaunch {
  readonly script: string;
  /** Gets what the guest prints; emptied first. */
  readonly log: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a guest that outlives this process: in a session of its own, with no pipe to us. */
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
    if (identity === undefined) throw new Error('The guest ended as soon as it was launched.');
    return { identity, gone: gone.promise };
  } finally {
    await log.close();
  }
};

/** Whether a program of that name can be run. */
export const toolExists = async (name: string): Promise<boolean> => {
  const probe = spawn(name, ['--version'], { stdio: 'ignore' });
  return Promise.race([
    once(probe, 'exit').then(([code]) => code === 0),
    once(probe, 'error').then(() => false),
  ]).catch(() => false);
};
