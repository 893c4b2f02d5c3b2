import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openHierarchies } from './cgroup-hierarchies.js';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'berth-hierarchies-'));
});

afterEach(() => rmSync(root, { recursive: true }));

/** A list of mounts, whose freezer has the group. */
const mounts = (...mounted: readonly (readonly [place: string, controllers: string])[]): string => {
  for (const [place] of mounted) mkdirSync(join(root, place), { recursive: true });
  mkdirSync(join(root, 'freezer', 'berth'), { recursive: true });
  writeFileSync(join(root, 'freezer', 'berth', 'freezer.state'), '');
  const lines = mounted.map(([place, options]) => `cgroup ${join(root, place)} cgroup rw,${options} 0 0`);
  writeFileSync(join(root, 'mounts'), `${lines.join('\n')}\n`);
  return join(root, 'mounts');
};

const opened = async (file: string): Promise<readonly (readonly [string, readonly string[]])[]> =>
  (await openHierarchies('berth', 'v1', file)).map(({ folder, controllers }) => [folder, controllers]);

it('a hierarchy that is mounted several times, at one place or at several, is used once', async () => {
  const file = mounts(
    ['freezer', 'freezer'],
    ['memory', 'memory'],
    ['memory', 'memory'],
    ['pids', 'pids'],
    ['other/pids', 'pids'],
    ['cpu', 'cpu,cpuacct'],
  );
  expect(await opened(file)).toEqual([
    [join(root, 'freezer', 'berth'), []],
    [join(root, 'memory', 'berth'), ['memory']],
    [join(root, 'pids', 'berth'), ['pids']],
    [join(root, 'cpu', 'berth'), ['cpuacct']],
  ]);
});

it('controllers that are mounted together are one hierarchy', async () => {
  const file = mounts(['freezer', 'freezer'], ['all', 'memory,pids,cpuacct']);
  expect(await opened(file)).toEqual([
    [join(root, 'freezer', 'berth'), []],
    [join(root, 'all', 'berth'), ['memory', 'pids', 'cpuacct']],
  ]);
});
