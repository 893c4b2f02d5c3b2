import { createHash } from 'node:crypto';
import { fstatSync, read, type BigIntStats } from 'node:fs';
import { promisify } from 'node:util';
import { isOfKernel, reopen, type Descriptor } from './descriptor.js';
import { parsePath } from './file-path.js';
import { isADirectory, notAFile, notReadable, pathNotFound } from './file-refusals.js';
import { mayRead, type Reader } from './permission.js';
import { walk, type Ground } from './volume-walk.js';

const READ_AT_ONCE = 256 * 1024;
const readFrom = promisify(read);

/** The reach of a path: anywhere inside the agent, or only its volume. */
export type Within = 'agent' | 'volume';

/** A file opened for reading, with its metadata at that time. */
export interface OpenedFile extends Disposable {
  readonly file: Descriptor;
  readonly size: number;
  /** A strong entity tag, unique for each state of each file. */
  readonly etag: string;
  readonly modifiedAt: Date;
}

/**
 * Opens a file that the agent's own user can read. Opens regular files only: a FIFO would block, and a device could
 * have side effects. Errors: invalid `is_a_directory`, `not_a_file`; forbidden `not_readable`; not_found
 * `path_not_found`; those of every walk.
 */
export const openFile = (ground: Ground, path: string, within: Within, reader: Reader | null): OpenedFile => {
  using found = walk(ground, parsePath(path), { follow: true, beyond: within === 'agent', reader });
  const { target } = found;
  if (target === undefined) throw pathNotFound();
  if (target.stats.isDirectory()) throw isADirectory();
  if (!target.stats.isFile() || isOfKernel(target.descriptor)) throw notAFile();
  if (!mayRead(target.stats, reader)) throw notReadable();
  const file = reopen(target.descriptor);
  try {
    const stats = fstatSync(file.fd, { bigint: true });
    const size = Number(stats.size);
    const modifiedAt = new Date(Number(stats.mtimeMs));
    return { file, size, etag: toTag(stats), modifiedAt, [Symbol.dispose]: () => file[Symbol.dispose]() };
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
};

/** Includes the change time, because the agent can set the other times. */
const toTag = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string => {
  const state = [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  return `"${createHash('sha256').update(state).digest('base64url').slice(0, 27)}"`;
};

/** The bytes from `start` to `end`, inclusive. Throws if the file has become too short. */
export const bytesOf = async function* (
  file: Descriptor,
  start: number,
  end: number,
): AsyncGenerator<Buffer, void, void> {
  const readAt = (position: number): Promise<Buffer> => {
    const chunk = readChunk(file, position, end);
    // The promise is awaited after the previous chunk is consumed; until then, avoid an unhandled rejection.
    chunk.catch(() => undefined);
    return chunk;
  };
  let ahead = readAt(start);
  try {
    for (let position = start; position <= end;) {
      const chunk = await ahead;
      position += chunk.length;
      if (position <= end) ahead = readAt(position);
      yield chunk;
    }
  } finally {
    // The descriptor must not be closed, and its number reused, during a read.
    await ahead.catch(() => undefined);
  }
};

const readChunk = async (file: Descriptor, position: number, end: number): Promise<Buffer> => {
  const room = Buffer.allocUnsafeSlow(Math.min(READ_AT_ONCE, end - position + 1));
  const { bytesRead } = await readFrom(file.fd, room, 0, room.length, position);
  if (bytesRead === 0) throw new Error('The file became shorter while it was read.');
  return room.subarray(0, bytesRead);
};
