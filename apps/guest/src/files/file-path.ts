import { NAME_LIMIT_BYTES } from '@berth/guest-protocol';
import { invalidPath } from './file-refusals.js';

/** PATH_MAX, which the kernel would refuse beyond. */
const PATH_LIMIT_BYTES = 4_096;

/** A path taken apart. `..` is left in: only who walks knows where it leads. */
export interface PathParts {
  readonly absolute: boolean;
  readonly parts: readonly string[];
}

/** Errors: invalid `invalid_path`. */
export const parsePath = (path: string): PathParts => {
  if (path.includes('\0') || !path.isWellFormed()) throw invalidPath('A path is text without NUL.');
  if (Buffer.byteLength(path) > PATH_LIMIT_BYTES) {
    throw invalidPath(`A path has at most ${PATH_LIMIT_BYTES} bytes.`);
  }
  const taken = splitPath(path);
  for (const part of taken.parts) checkLength(part);
  return taken;
};

/** The same without looking at it: a symlink's target was written by the agent and read by the kernel before. */
export const splitPath = (path: string): PathParts => ({
  absolute: path.startsWith('/'),
  parts: path.split('/').filter((part) => part !== '' && part !== '.'),
});

/** What follows `root` in the parts of an absolute path; undefined when they lead elsewhere. */
export const below = (root: readonly string[], parts: readonly string[]): readonly string[] | undefined =>
  root.every((part, index) => parts[index] === part) ? parts.slice(root.length) : undefined;

/** The name of a file that was given with or without folders, of this system or another. Errors: invalid `invalid_path`. */
export const fileName = (given: string): string => {
  const name = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1);
  if (['', '.', '..'].includes(name)) throw invalidPath('A file needs a name.');
  parsePath(name);
  return name;
};

/** `report.txt` as `report (2).txt`, within the length of a name. */
export const numberedName = (name: string, mark: string): string => {
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 ? name.slice(dot) : '';
  const suffix = ` (${mark})${ending}`;
  const room = NAME_LIMIT_BYTES - Buffer.byteLength(suffix);
  // An ending as long as a name is none.
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
