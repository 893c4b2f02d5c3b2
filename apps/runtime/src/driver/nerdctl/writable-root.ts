import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { BoxSource } from '../box-spec.js';
import { DriverError } from '../driver-error.js';
import { callContainerd, fieldsOf, type ContainerdScope } from './containerd-call.js';

const run = promisify(execFile);

// Numbers of fields in containerd's services/containers/v1 and services/snapshots/v1.
const CONTAINER = 1;
const SNAPSHOTTER = 6;
const SNAPSHOT_KEY = 7;
const MOUNTS = 1;
const OPTIONS = 4;

/** Identifies the code that a writable root file system belongs to; other code gets a new one. `digest`: of the image. */
export const rootKey = ({ kind, version }: BoxSource, digest: string): string =>
  createHash('sha256').update(`${digest}\0${kind}\0${version}`).digest('hex').slice(0, 16);

/**
 * Makes a container that was created and not started yet write to a folder of ours, with `fs` and `work` in it, instead of
 * containerd's, where it would have no limit and end with the container. Unmount it before the container is removed, which
 * deletes the content. Errors: `host_unavailable`, `host_unsuitable`.
 */
export const layOver = async (scope: ContainerdScope, container: string, layer: string): Promise<void> => {
  await run('mount', ['--bind', layer, await snapshotFolder(scope, container)]);
};

/**
 * Checks that the root file system of a container, by the path of the host, ends where the disk ends. It does not if
 * containerd runs in a mount namespace of its own. Errors: `host_unsuitable`.
 */
export const assertBounded = async (root: string, disk: string): Promise<void> => {
  const [inside, bound] = await Promise.all([statfs(root), statfs(disk)]);
  if (inside.blocks * inside.bsize !== bound.blocks * bound.bsize)
    throw new DriverError('host_unsuitable', 'Writable root file systems cannot be limited on this host.');
};

/** The folder in which containerd's snapshotter keeps what the container writes. */
const snapshotFolder = async (scope: ContainerdScope, id: string): Promise<string> => {
  const found = await callContainerd(scope, 'containers.v1.Containers/Get', { 1: id });
  const container = fieldsOf(found, CONTAINER)[0] ?? Buffer.alloc(0);
  const text = (number: number): string => String(fieldsOf(container, number)[0] ?? '');
  const request = { 1: text(SNAPSHOTTER), 2: text(SNAPSHOT_KEY) };
  const response = await callContainerd(scope, 'snapshots.v1.Snapshots/Mounts', request);
  const options = fieldsOf(response, MOUNTS).flatMap((mount) => fieldsOf(mount, OPTIONS).map(String));
  const folders = ['upperdir=', 'workdir='].map((name) =>
    options.find((option) => option.startsWith(name))?.slice(name.length),
  );
  const [upper, work] = folders;
  if (
    upper === undefined ||
    work === undefined ||
    !upper.endsWith('/fs') ||
    work !== `${dirname(upper)}/work`
  )
    throw new DriverError(
      'host_unsuitable',
      'A writable root file system needs the snapshotter overlayfs of containerd.',
    );
  return dirname(upper);
};
