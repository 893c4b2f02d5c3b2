import type { Stats } from 'node:fs';

/** A user without any group but its own. */
export interface Reader {
  readonly uid: number;
  readonly gid: number;
}

const READ = 0o4;
const SEARCH = 0o1;

/** Whether `reader` may read what has these bits. null: whoever this process is, so that the kernel decides. */
export const mayRead = (stats: Stats, reader: Reader | null): boolean => permits(stats, reader, READ);

/** Whether `reader` may look names up in a folder that has these bits. */
export const maySearch = (stats: Stats, reader: Reader | null): boolean => permits(stats, reader, SEARCH);

/** The kernel takes the first class that fits, even where a later one would permit more. */
const permits = ({ mode, uid, gid }: Stats, reader: Reader | null, bit: number): boolean => {
  if (reader === null || reader.uid === 0) return true;
  if (uid === reader.uid) return (mode & (bit << 6)) !== 0;
  if (gid === reader.gid) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
};
