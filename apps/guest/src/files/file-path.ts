import { NAME_LIMIT_BYTES } from '@berth/guest-protocol';
import { invalidPath } from './file-refusals.js';

/** PATH_MAX, the kernel's limit. */
const PATH_LIMIT_BYTES = 4_096;

/** A parsed path. It keeps `..`, because only a walk can resolve it. */
export interface PathParts {
  readonly absolute: boolean;
  readonly parts: readonly string[];
}

/** Errors: invalid `invalid_path`. */
export const parsePath = (path: string): PathParts => {
  if (path.includes('\0') || !path.isWellFormed()) throw invalidPath('A path must be text without NUL.');
  if (Buffer.byteLength(path) > PATH_LIMIT_BYTES) {
    throw invalidPath(`A path has at most ${PATH_LIMIT_BYTES} bytes.`);
  }
  const taken = splitPath(path);
  for (const part of taken.parts) checkLength(part);
  return taken;
};

/** Splits without validation: a symlink's target was written by the agent and already accepted by the kernel. */
export const splitPath = (path: string): PathParts => ({
  absolute: path.startsWith('/'),
  parts: path.split('/').filter((part) => part !== '' && part !== '.'),
});

/** The segments after `root` in an absolute path; undefined if the path is not below `root`. */
export const below = (root: readonly string[], parts: readonly string[]): readonly string[] | undefined =>
  root.every((part, index) => parts[index] === part) ? parts.slice(root.length) : undefined;

/**
 * The file name from a name with or without folders, of this or another operating system. Errors: invalid
 * `invalid_path`.
 */
export const fileName = (given: string): string => {
  const name = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1);
  if (['', '.', '..'].includes(name)) throw invalidPath('A file needs a name.');
  parsePath(name);
  return name;
};

/** Semaphore `report.txt` into `report (2).txt`, within the maximum length of a name. */
export const numberedName = (name: string, mark: string): string => {
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 ? name.slice(dot) : '';
  const suffix = ` (${mark})${ending}`;
  const room = NAME_LIMIT_BYTES - Buffer.byteLength(suffix);
  // An extension that fills the whole name is not treated as one.
  return room > 0
    ? shorten(dot > 0 ? name.slice(0, dot) : name, room) + suffix
    : numberedName(shorten(name.replaceAll('.', '_'), NAME_LIMIT_BYTES), mark);
};

const shorten = (text: string, bytes: number): string => {
  let kept = '';
  let room = bytes;
  for (const character of text) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    kept += character;
  }
  return kept;
};

const checkLength = (part: string): void => {
  if (Buffer.byteLength(part) > NAME_LIMIT_BYTES) {
    throw invalidPath(`A name has at most ${NAME_LIMIT_BYTES} bytes.`);
  }
};
