import type { Stats } from 'node:fs';

/** A user without supplementary groups. */
export interface Reader {
  readonly uid: number;
  readonly gid: number;
}

const READ = 0o4;
const SEARCH = 0o1;

/** Whether `reader` may read a file with this mode. null: the user of this process, so the kernel decides. */
export const mayRead = (stats: Stats, reader: Reader | null): boolean => permits(stats, reader, READ);

/** Whether `reader` may look up names in a folder with this mode. */
export const maySearch = (stats: Stats, reader: Reader | null): boolean => permits(stats, reader, SEARCH);

/** The kernel applies the first matching class, even if a later one would permit more. */
const permits = ({ mode, uid, gid }: Stats, reader: Reader | null, bit: number): boolean => {
  if (reader === null || reader.uid === 0) return true;
  if (uid === reader.uid) return (mode & (bit << 6)) !== 0;
  if (gid === reader.gid) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
};
