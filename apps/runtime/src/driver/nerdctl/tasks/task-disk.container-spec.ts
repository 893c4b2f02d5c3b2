import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentDisks } from '../agent-disk.js';
import { TaskDisks } from './task-disk.js';

const MB = 1024 * 1024;
/** Makes paths that are longer than a system call takes. */
const NEST =
  'for (let i = 0; i < 30; i++) { fs.mkdirSync("n".repeat(200)); process.chdir("n".repeat(200)); }';
const IDS = { uid: 100_000, gid: 100_000 };

describe('a disk', () => {
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

  it('of a task leaves no part of the code on the host when the code does not fit there', async () => {
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

  it('of a task refuses to hand back code that is deeper than a copy of it can be, and is deleted with it', async () => {
    const target = join(versions, 'dep_1');
    mkdirSync(target);
    const disks = new TaskDisks(join(folder, 'tasks'), IDS);
    const disk = await disks.create('dep_1', target, 64 * MB, { uid: 1_000, gid: 1_000 });
    try {
      execFileSync(process.execPath, ['-e', NEST], { cwd: disk?.code });
      execFileSync('chown', ['-R', String(IDS.uid + 1_000), disk?.code ?? '']);
      await expect(disk?.handBack(target)).rejects.toMatchObject({ code: 'spec_unsupported' });
    } finally {
      await disks.release('dep_1');
    }
    expect(readdirSync(versions)).toEqual(['dep_1']);
    expect(readdirSync(join(folder, 'tasks'))).toEqual([]);
  });

  it('of an agent passes to another user, however deep it is', async () => {
    const agents = await AgentDisks.open(folder, IDS);
    const volume = join(await agents.mount('agt_1', 64 * MB, 0), 'volume');
    try {
      await agents.giveVolume('agt_1', { uid: 1_000, gid: 1_000, groups: [] });
      execFileSync(process.execPath, ['-e', NEST], { cwd: volume });
      execFileSync('chown', ['-R', String(IDS.uid + 1_000), volume]);
      await agents.giveVolume('agt_1', { uid: 1_001, gid: 1_001, groups: [] });
      expect(execFileSync('find', [volume, '!', '-uid', String(IDS.uid + 1_001)], { encoding: 'utf8' })).toBe(
        '',
      );
    } finally {
      await agents.remove('agt_1');
    }
  });
});
