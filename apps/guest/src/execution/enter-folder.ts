import { spawn } from 'node:child_process';
import { isAbsolute, resolve } from 'node:path';
import type { PutProgram } from '@berth/guest-protocol';
import { asAgent } from '../as-agent.js';
import { commandUnavailable, invalidCwd } from './execution-refusals.js';
import type { Shell } from './shell.js';

const MAX_PATH_CHARS = 4_096;
/** Timeout for a folder on a file system that hangs. */
const WITHIN_MS = 5_000;

/**
 * The working directory for a command; null for the volume. Access is checked as the agent's own user, because this
 * process may run as another. Errors: invalid `invalid_cwd`; unavailable `guest_command_unavailable`.
 */
export const folderToEnter = async (
  cwd: string | null,
  shell: Shell,
  { volume, runAs }: Pick<PutProgram, 'volume' | 'runAs'>,
): Promise<string | null> => {
  if (cwd === null || resolve(volume, cwd) === resolve(volume)) return null;
  const folder = isAbsolute(cwd) ? cwd : `${volume}/${cwd}`;
  if (folder.includes('\0') || folder.length > MAX_PATH_CHARS) throw invalidCwd();
  if (!(await canEnter(folder, shell, runAs))) throw invalidCwd();
  return folder;
};

const canEnter = (folder: string, shell: Shell, runAs: PutProgram['runAs']): Promise<boolean> => {
  const { promise, resolve: settle, reject } = Promise.withResolvers<boolean>();
  const script = ['-c', '--', 'cd -- "$1"', shell.argv0, folder];
  const command = { file: shell.path, args: script, env: {}, argv0: shell.argv0 };
  const { file, args, user, env } = asAgent(runAs, command);
  const probe = spawn(file, args, {
    cwd: '/',
    env,
    stdio: 'ignore',
    timeout: WITHIN_MS,
    killSignal: 'SIGKILL',
    ...user,
  });
  probe.once('error', () => reject(commandUnavailable()));
  probe.once('exit', (code) => (code === null ? reject(commandUnavailable()) : settle(code === 0)));
  return promise;
};
