import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RunAsUser } from '@berth/guest-protocol';
import { asAgent } from '../../as-agent.js';

/** A file of a folder of the desktop's user. */
export interface UserFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly content: string | Buffer;
  readonly mode: number;
}

/** Who the desktop is, and where its programs are found. */
export interface FolderOwner {
  readonly runAs: RunAsUser | null;
  readonly path: string;
}

const SHELL = '/bin/sh';
/** Where its tools are, whatever the desktop's programs are found by. */
const TOOLS = '/usr/bin:/bin';
/** Reads a line for each file: its path, mode and bytes. Its arguments would show secrets to other users of the host. */
const MAKE = `set -e
umask 077
rm -rf -- "$1"
mkdir -p -- "$1"
cd -- "$1"
while read -r path mode content; do
  case $path in */*) mkdir -p -- "\${path%/*}" ;; esac
  printf %b "$content" >"$path"
  chmod "$mode" "$path"
done`;

/**
 * Makes a folder anew that only the desktop's user can enter. A process of that user does it: a guest that is another user
 * must not write where the desktop could swap a folder for a link.
 */
export const makeUserFolder = async (
  owner: FolderOwner,
  folder: string,
  files: readonly UserFile[],
): Promise<void> => {
  const lines = files.map(
    ({ path, content, mode }) => `${path} ${mode.toString(8)} ${escape(Buffer.from(content))}\n`,
  );
  if (!(await runAsOwner(owner, ['-c', MAKE, SHELL, folder], lines.join(''))))
    throw new Error('The folder of the desktop could not be made.');
};

/** Removes it; what cannot be removed stays. */
export const removeUserFolder = async (owner: FolderOwner, folder: string): Promise<void> => {
  await runAsOwner(owner, ['-c', 'rm -rf -- "$1"', SHELL, folder], '');
};

/** Whether the shell succeeded. */
const runAsOwner = async (
  { runAs, path }: FolderOwner,
  args: readonly string[],
  input: string,
): Promise<boolean> => {
  const command = asAgent(runAs, { file: SHELL, args, env: { PATH: `${path}:${TOOLS}` } });
  const child = spawn(command.file, command.args, {
    cwd: '/',
    env: command.env,
    stdio: ['pipe', 'ignore', 'ignore'],
    ...command.user,
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
};

/** For `%b` of printf. */
const escape = (bytes: Buffer): string =>
  Array.from(bytes, (byte) =>
    isPlain(byte) ? String.fromCharCode(byte) : `\\0${byte.toString(8).padStart(3, '0')}`,
  ).join('');

const isPlain = (byte: number): boolean => /[A-Za-z0-9]/.test(String.fromCharCode(byte));
