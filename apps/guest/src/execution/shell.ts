import { accessSync, constants } from 'node:fs';
import { inParts } from './last-characters.js';

const OF_THE_IMAGE = '/bin/sh';
/** What the kernel takes as one argument, its terminating NUL not counted (MAX_ARG_STRLEN). */
const LONGEST_ARGUMENT_BYTES = 128 * 1024 - 1;
/** So many UTF-16 units are at most three times as many bytes. */
const PART_UNITS = 32 * 1024;

export interface Shell {
  readonly path: string;
  readonly argv0: string;
}

/** What a shell is to do. */
export interface ShellTask {
  readonly command: string;
  /** Absolute, where it is to be entered first; null begins where the shell is started. */
  readonly folder: string | null;
  /** Whether stderr goes where stdout goes. */
  readonly merged: boolean;
}

/**
 * The shell that commands are given to: the image's own, else `brought`, the absolute path of one that came with the guest
 * for images without any; undefined without either.
 */
export const findShell = (brought?: string, ofTheImage: string = OF_THE_IMAGE): Shell | undefined => {
  if (isExecutable(ofTheImage)) return { path: ofTheImage, argv0: ofTheImage };
  // A binary of many tools goes by the name it is called.
  return brought !== undefined && isExecutable(brought) ? { path: brought, argv0: 'sh' } : undefined;
};

/**
 * Arguments for a shell that runs the command as `sh -c` does. One that is too long for an argument comes in several,
 * put together by `eval` after they were forgotten, so that `$0`, `$#` and the end of the shell are the same.
 */
export const shellArguments = (shell: Shell, { command, folder, merged }: ShellTask): string[] => {
  if (folder === null && !merged && Buffer.byteLength(command) <= LONGEST_ARGUMENT_BYTES) {
    return ['-c', '--', command];
  }
  // Each part is encoded by itself: none may end within a pair.
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
