import { readFile } from 'node:fs/promises';

/** Where the ids of the user namespaces of agents' containers begin on the host. */
export interface SubordinateIds {
  /** The host's user id for user 0 of the container. */
  readonly uid: number;
  readonly gid: number;
}

/** How many ids an agent needs, and the lowest id of the host that a range may begin with. */
const RANGE = 65_536;

/** First id of the range of `user` in the text of `/etc/subuid` or `/etc/subgid`; undefined without a range that is large enough. */
export const firstSubordinateId = (text: string, user: string): number | undefined => {
  for (const line of text.split('\n')) {
    const [name, first, count] = line.split(':');
    if (name === user && Number(first) >= RANGE && Number(count) >= RANGE) return Number(first);
  }
  return undefined;
};

/** Undefined if one of the files has no range for the user. */
export const readSubordinateIds = async (user: string): Promise<SubordinateIds | undefined> => {
  const [uid, gid] = await Promise.all(
    ['/etc/subuid', '/etc/subgid'].map(async (file) =>
      firstSubordinateId(await readFile(file, 'utf8').catch(() => ''), user),
    ),
  );
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
};
