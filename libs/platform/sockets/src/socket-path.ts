import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** The kernel limits the path of a socket to 108 bytes, including the terminating NUL. */
const LONGEST_PATH_BYTES = 107;

/** A name for a Unix socket that is short enough for the kernel. It is valid until `release`. */
export interface SocketPath {
  readonly path: string;
  release(): Promise<void>;
}

/**
 * Returns a path to listen at or to connect to. A path that is too long is replaced by one that starts at an open
 * descriptor of its folder. Throws the errors of opening the folder. On systems without `/proc/self/fd` it returns
 * `path` itself.
 */
export const openSocketPath = async (path: string): Promise<SocketPath> => {
  if (Buffer.byteLength(path) <= LONGEST_PATH_BYTES || process.platform !== 'linux')
    return { path, release: () => Promise.resolve() };
  const folder = await open(dirname(path), 'r');
  return { path: `/proc/self/fd/${folder.fd}/${basename(path)}`, release: () => folder.close() };
};
