import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
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
import { DiskImage } from './disk-image.js';

const MB = 1024 * 1024;

describe('the image of a volume', () => {
  let folder: string;
  let file: string;
  let point: string;
  let image: DiskImage;
  let holder: ChildProcess | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-image-'));
    file = join(folder, 'disk.ext4');
    point = join(folder, 'disk');
    mkdirSync(point);
    image = new DiskImage(file, point, { uid: 0, gid: 0 });
  });

  afterEach(async () => {
    holder?.kill('SIGKILL');
    holder = undefined;
    await image.release();
    rmSync(folder, { recursive: true });
  });

  /** A process in a mount namespace of its own, which has a copy of each mount of this one. */
  const holdMounts = async (): Promise<ChildProcess> => {
    const process = spawn('unshare', [
      '--mount',
      '--propagation',
      'private',
      'sh',
      '-c',
      'echo held; exec sleep 600',
    ]);
    await once(process.stdout, 'data');
    return (holder = process);
  };

  const bytesOf = (): number => {
    const { blocks, bsize } = statfsSync(point);
    return blocks * bsize;
  };

  it('is not checked, grown or mounted while another mount namespace has its file system mounted', async () => {
    await image.mount(16 * MB);
    const held = await holdMounts();
    await image.unmount();
    const before = statSync(file);
    await expect(image.mount(32 * MB)).rejects.toMatchObject({ code: 'box_stuck' });
    expect(statSync(file).size).toBe(before.size);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(point);
    const ended = once(held, 'exit');
    held.kill('SIGKILL');
    await ended;
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
