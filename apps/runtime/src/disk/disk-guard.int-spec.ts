import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SmallDisk } from '@berth/embedded/testing';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DiskGuard } from './disk-guard.js';
import { assertDiskHasRoom } from './disk-room.js';

const MB = 1024 ** 2;
const BLOCKS_PER_MB = MB / 4096;
/** Of a disk of 600 MB, 64 MB are reserved twice: as files, and as space that agents must leave. */
const DISK_MB = 600;
const RESERVE_MB = 64;

describe('the disk guard', () => {
  let folder: string;
  let disk: SmallDisk;
  let guard: DiskGuard;
  let ended: string[];
  const written = new Map<string, number>();
  const files = new Map<string, number>();

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-disk-guard-'));
    disk = SmallDisk.mount(join(folder, 'disk.ext4'), join(folder, 'disk'), DISK_MB);
    ended = [];
    written.clear();
    files.clear();
    const log = createLogger({ service: 'test', level: 'silent' });
    const observed = ['filling', 'quiet'].map(
      (agentId) => ({ agentId, epoch: 1, state: 'running', idleTtlSeconds: 0 }) as const,
    );
    guard = new DiskGuard(
      { dataDir: disk.path },
      {
        writtenBytes: (agentId) => Promise.resolve(written.get(agentId) ?? 0),
        fileCount: (agentId) => Promise.resolve(files.get(agentId) ?? 0),
      },
      { observed, of: (agentId) => ({ current: { awake: { end: () => void ended.push(agentId) } } }) },
      new Supervisor('test', log),
      log,
    );
  });
  afterEach(() => {
    disk.unmount();
    rmSync(folder, { recursive: true, force: true });
  });

  const freeMb = (): number => Math.floor(disk.freeBlocks / BLOCKS_PER_MB);

  it('sets space and inodes aside, gives up only as much of them as is needed when the disk is full, and sets them aside again', async () => {
    const [before, inodes] = [freeMb(), disk.freeInodes];
    await guard.look();
    expect(before - freeMb()).toBeGreaterThanOrEqual(RESERVE_MB - 1);
    expect(inodes - disk.freeInodes).toBeGreaterThan(500);

    disk.fill();
    expect(guard.space().state).toBe('full');
    for (let round = 0; round < 8; round++) await guard.look();
    expect(guard.space().state).toBe('low');
    expect(freeMb()).toBeGreaterThanOrEqual(32);
    expect(freeMb()).toBeLessThan(48);

    disk.free();
    await guard.look();
    expect(before - freeMb()).toBeGreaterThanOrEqual(RESERVE_MB - 1);
    expect(guard.space().state).toBe('ok');
  });

  it('ends an agent that goes on creating files while inodes are scarce, no other one, and gives up inodes', async () => {
    await guard.look();
    disk.fillInodes();
    expect(guard.space().state).toBe('full');
    files.set('filling', 1_000);
    await guard.look();
    files.set('filling', 1_064);
    files.set('quiet', 20);
    written.set('quiet', 500 * MB);
    await guard.look();
    expect(ended).toEqual(['filling']);
    for (let round = 0; round < 8; round++) await guard.look();
    expect(guard.space().state).toBe('low');
    expect(disk.freeInodes).toBeGreaterThanOrEqual(64);
  });

  it('ends an agent that goes on writing while the disk is nearly full, no other one, and starts none until there is room', async () => {
    await guard.look();
    written.set('filling', 500 * MB);
    disk.fill();
    await guard.look();
    expect(ended).toEqual([]);

    written.set('filling', 520 * MB);
    written.set('quiet', 1 * MB);
    await guard.look();
    expect(ended).toEqual(['filling']);
    expect(() => assertDiskHasRoom(disk.path)).toThrow("The disk of the agent's host is full.");

    disk.free();
    await guard.look();
    written.set('filling', 900 * MB);
    await guard.look();
    expect(ended).toEqual(['filling']);
    expect(() => assertDiskHasRoom(disk.path)).not.toThrow();
  });
});
