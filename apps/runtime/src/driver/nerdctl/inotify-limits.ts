import { execFile } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { DriverError } from '../driver-error.js';
import { isAlive, type ProcessIdentity } from '../process-table.js';

const run = promisify(execFile);

/** What hosts usually give to one user. A process finds the limits of its own user namespace in these files. */
const LIMIT =
  'echo 128 > /proc/sys/user/max_inotify_instances && echo 65536 > /proc/sys/user/max_inotify_watches';

/**
 * Limits what each user in the user namespace of a process can watch, and what is watched in all namespaces that this user
 * creates. Otherwise one agent could use up what all agents share (`raiseHostLimits`). Call it before the agent's first
 * process. A runtime class may give its guests a kernel of their own instead of a user namespace. Errors:
 * `guest_not_started`.
 */
export const limitInotify = async (process: ProcessIdentity): Promise<void> => {
  const namespace = `/proc/${process.pid}/ns/user`;
  try {
    if ((await readlink(namespace)) === (await readlink('/proc/self/ns/user'))) return;
    await run('nsenter', [`--user=${namespace}`, '--', '/bin/sh', '-c', LIMIT]);
  } catch (cause) {
    if (await isAlive(process)) throw cause;
    throw new DriverError('guest_not_started', 'The guest exited immediately after its launch.', { cause });
  }
};
