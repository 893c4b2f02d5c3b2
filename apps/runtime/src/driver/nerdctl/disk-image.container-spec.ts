import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holdFileSystem } from './__fixtures__/held-file-system.fixture.js';
import { DiskImage } from './disk-image.js';
import { mountPointsBelow } from './mount-points.js';

const MB = 1024 * 1024;

describe('the image of a volume', () => {
  let folder: string;
  let file: string;
  let point: string;
  let image: DiskImage;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-image-'));
    file = join(folder, 'disk.ext4');
    point = join(folder, 'disk');
    mkdirSync(point);
    image = new DiskImage(file, point, { uid: 0, gid: 0 });
  });

  afterEach(async () => {
    await image.release();
    rmSync(folder, { recursive: true });
  });

  const bytesOf = (): number => {
    const { blocks, bsize } = statfsSync(point);
    return blocks * bsize;
  };

  it('is not checked, grown or mounted while its file system lives on after it was unmounted', async () => {
    await image.mount(16 * MB);
    const release = holdFileSystem(point);
    try {
      await expect(image.mount(32 * MB)).rejects.toMatchObject({ code: 'box_stuck' });
      expect(statSync(file).size).toBe(16 * MB);
      expect(mountPointsBelow(readFileSync('/proc/self/mountinfo', 'utf8'), point)).toEqual([]);
    } finally {
      release();
    }
    await image.mount(32 * MB);
    writeFileSync(join(point, 'file'), 'whole');
    expect(readFileSync(join(point, 'file'), 'utf8')).toBe('whole');
  });

  it('has no loop device once it is released', async () => {
    await image.mount(16 * MB);
    await image.release();
    expect(execFileSync('losetup', ['--associated', file], { encoding: 'utf8' })).toBe('');
  });

  it('has its size after a crash between the growth of the file and that of the file system', async () => {
    await image.mount(16 * MB);
    const small = bytesOf();
    await image.release();
    truncateSync(file, 64 * MB);
    await image.mount(64 * MB);
    expect(bytesOf()).toBeGreaterThan(3 * small);
  });
});
