import { accessSync, constants } from 'node:fs';
import { inParts } from './last-characters.js';

const IMAGE_SHELL = '/bin/sh';
/** Maximum length of one argument without its terminating NUL (MAX_ARG_STRLEN). */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
/** This number of UTF-16 units takes at most three times as many bytes. */
const PART_UNITS = 32 * 1024;

export interface Shell {
  readonly path: string;
  readonly argv0: string;
}

/** Input for a shell. */
export interface ShellTask {
  readonly command: string;
  /** Absolute path to enter first; null stays in the shell's initial directory. */
  readonly folder: string | null;
  /** Whether to send stderr to stdout. */
  readonly merged: boolean;
}

/**
 * The shell for commands: the image's own, otherwise `shipped`, the absolute path of the shell that ships with the
 * guest; undefined without either.
 */
export const findShell = (shipped?: string, imageShell: string = IMAGE_SHELL): Shell | undefined => {
  if (isExecutable(imageShell)) return { path: imageShell, argv0: imageShell };
  // A multi-call binary such as busybox selects its tool by the name it is called with.
  return shipped !== undefined && isExecutable(shipped) ? { path: shipped, argv0: 'sh' } : undefined;
};

/**
 * Arguments for a shell to run the command like `sh -c`. A command too long for one argument is split into several; the
 * script clears them and joins them with `eval`, so that `$0`, `$#` and the exit code of the shell are the same.
 */
export const shellArguments = (shell: Shell, { command, folder, merged }: ShellTask): string[] => {
  if (folder === null && !merged && Buffer.byteLength(command) <= MAX_ARGUMENT_BYTES) {
    return ['-c', '--', command];
  }
  // Each part is encoded separately, so no part may end within a surrogate pair.
  const parts = [...inParts(command, PART_UNITS)];
  const script = [
    merged ? 'exec 2>&1;' : '',
    folder === null ? '' : 'cd -- "$1" || exit 126; unset OLDPWD;',
    `eval "set --;${parts.map((_, index) => `\${${index + 2}}`).join('')}"`,
  ];
  return ['-c', '--', script.join(' '), shell.argv0, folder ?? '', ...parts];
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
