import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TaskDisks } from './task-disk.js';

const MB = 1024 * 1024;
const IDS = { uid: 100_000, gid: 100_000 };

describe('the disk of a task', () => {
  let folder: string;
  let versions: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-task-disk-'));
    versions = join(folder, 'versions');
    mkdirSync(versions);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', versions]);
  });

  afterEach(() => {
    execFileSync('umount', [versions]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('leaves no part of the code on the host when the code does not fit there', async () => {
    const target = join(versions, 'dep_1');
    mkdirSync(target);
    writeFileSync(join(target, 'given'), 'given');
    const disks = new TaskDisks(join(folder, 'tasks'), IDS);
    const disk = await disks.create('dep_1', target, 64 * MB, { uid: 1_000, gid: 1_000 });
    try {
      writeFileSync(join(disk?.code ?? '', 'made'), Buffer.alloc(8 * MB));
      execFileSync('chown', ['-R', String(IDS.uid + 1_000), disk?.code ?? '']);
      await expect(disk?.handBack(target)).rejects.toThrow('No space left on device');
    } finally {
      await disks.release('dep_1');
    }
    expect(readdirSync(versions)).toEqual(['dep_1']);
    expect(readFileSync(join(target, 'given'), 'utf8')).toBe('given');
  });
});
