import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Keeps a file system alive that is unmounted at `point` afterwards, by an overlay of it, as a container's root file
 * system can. A mount namespace would hold the disks of other tests, too. Returns the function that ends the overlay.
 */
export const holdFileSystem = (point: string): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-held-'));
  const [empty, merged] = [join(folder, 'empty'), join(folder, 'merged')];
  for (const path of [empty, merged]) mkdirSync(path);
  execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=${point}:${empty}`, merged]);
  return () => {
    execFileSync('umount', [merged]);
    rmSync(folder, { recursive: true });
  };
};
