import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DriverError } from '../driver-error.js';

/** Ids of an agent's processes inside. */
export interface UserIds {
  readonly uid: number;
  readonly gid: number;
  /** Supplementary groups. */
  readonly groups: readonly number[];
}

/** The content of `/etc/passwd` and `/etc/group` inside; empty if they are absent. */
export interface UserFiles {
  readonly passwd: string;
  readonly group: string;
}

/** The ids in the user namespace that an image may use; those above belong to the guest and to the user `nobody`. */
const MAX_ID = 65_000;
const NUMBER = /^\d{1,9}$/;
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * The ids that USER of an image stands for, as other container tools understand it: a name or a number, with or without a
 * group. Undefined if it is unknown or not in the user namespace.
 */
export const resolveUser = (user: string, { passwd, group }: UserFiles): UserIds | undefined => {
  const [name = '', groupName] = user.split(':');
  const users = entriesOf(passwd);
  const groups = entriesOf(group);
  const known = NUMBER.test(name)
    ? users.find(([, , uid]) => uid === name)
    : users.find(([called]) => called === name);
  const uid = NUMBER.test(name) ? Number(name) : toId(known?.[2]);
  const gid = groupName === undefined ? (toId(known?.[3]) ?? 0) : groupId(groupName, groups);
  if (uid === undefined || gid === undefined || uid > MAX_ID || gid > MAX_ID) return undefined;
  const memberOf = groups.flatMap(([, , id, members = '']) =>
    known !== undefined && members.split(',').includes(known[0] ?? '') ? (toId(id) ?? []) : [],
  );
  const others = groupName === undefined ? memberOf.filter((id) => id !== gid && id <= MAX_ID) : [];
  return { uid, gid, groups: [...new Set(others)] };
};

const groupId = (name: string, groups: readonly (readonly string[])[]): number | undefined =>
  NUMBER.test(name) ? Number(name) : toId(groups.find(([called]) => called === name)?.[2]);

const entriesOf = (text: string): readonly (readonly string[])[] =>
  text.split('\n').map((line) => line.trim().split(':'));

const toId = (text: string | undefined): number | undefined =>
  text !== undefined && NUMBER.test(text) ? Number(text) : undefined;

/**
 * Reads the files below a root file system that strangers have made and that nothing changes meanwhile: a symbolic link
 * would lead to files of the host. Errors: `spec_unsupported`.
 */
export const readUserFiles = async (root: string): Promise<UserFiles> => ({
  passwd: await readBelow(root, 'passwd'),
  group: await readBelow(root, 'group'),
});

const readBelow = async (root: string, name: string): Promise<string> => {
  const folder = await lstat(join(root, 'etc')).catch(() => undefined);
  const path = join(root, 'etc', name);
  const file = folder?.isDirectory() === true ? await lstat(path).catch(() => undefined) : undefined;
  if (folder === undefined || (folder.isDirectory() && file === undefined)) return '';
  if (file?.isFile() !== true || file.size > MAX_FILE_BYTES)
    throw new DriverError(
      'spec_unsupported',
      `The image has a /etc/${name} that is not a small regular file.`,
    );
  return readFile(path, 'utf8');
};
