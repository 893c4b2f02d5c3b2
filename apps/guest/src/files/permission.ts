import type { Stats } from 'node:fs';

/** A user without supplementary groups. */
export interface Reader {
  readonly uid: number;
  readonly gid: number;
}

const READ = 0o4;
const SEARCH = 0o1;
/** The guest is this process. */
const OWN_UID = process.getuid?.() ?? 0;

/** Whether `reader` may read a file with this mode. null: the user of this process, so the kernel decides. */
export const mayRead = (stats: Stats, reader: Reader | null, guest = OWN_UID): boolean =>
  permits(stats, reader, READ, guest);

/** Whether `reader` may look up names in a folder with this mode. */
export const maySearch = (stats: Stats, reader: Reader | null, guest = OWN_UID): boolean =>
  permits(stats, reader, SEARCH, guest);

/**
 * The kernel applies the first matching class, even if a later one would permit more. Root inside has no power over the
 * files of a guest that is another user, whose id its user namespace does not map.
 */
const permits = ({ mode, uid, gid }: Stats, reader: Reader | null, bit: number, guest: number): boolean => {
  if (reader === null) return true;
  if (reader.uid === 0 && (guest === 0 || uid !== guest)) return true;
  if (uid === reader.uid) return (mode & (bit << 6)) !== 0;
  if (gid === reader.gid) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
};
