import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSmallerThan } from './ext4-size.js';

const MB = 1024 * 1024;

describe('the size of an ext4 file system', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-ext4-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  // Of 513 MB, the last block group would be too small for its tables.
  it.each([16, 100, 513, 1_500])('is that of its file of %d MB, until the file grows', async (megabytes) => {
    const file = join(folder, String(megabytes));
    writeFileSync(file, '');
    truncateSync(file, megabytes * MB);
    execFileSync('mkfs.ext4', ['-q', '-F', '-i', '8192', file]);
    expect(await isSmallerThan(file, megabytes * MB)).toBe(false);
    expect(await isSmallerThan(file, 1.2 * megabytes * MB)).toBe(true);
  });
});
