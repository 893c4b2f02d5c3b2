import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kitOf, removeOthers } from './old-kits.js';

describe('old kits', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-kits-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are deleted, except those that containers use and the current one', async () => {
    for (const name of ['current', 'used', 'old', 'half-made.4711'])
      mkdirSync(join(folder, name, 'lib'), { recursive: true });
    await removeOthers(join(folder, 'current'), new Set(['used']));
    expect(readdirSync(folder).toSorted()).toEqual(['current', 'used']);
  });

  it('are in use by a container that has one mounted', () => {
    // As the kernel writes it for a container that nerdctl 2.1.2 has started.
    const lines = [
      '512 480 0:61 / / ro,relatime - overlay overlay ro,lowerdir=/x',
      '530 512 254:1 /var/lib/berth/runtime/kit/3f2a9c01d4e5b677 /.berth/kit ro,relatime - ext4 /dev/vda1 rw',
      '531 512 254:1 /var/lib/berth/runtime/shared/4 /.berth/code ro,relatime - ext4 /dev/vda1 rw',
    ];
    expect(kitOf(lines.join('\n'))).toBe('3f2a9c01d4e5b677');
    expect(kitOf(lines[0] ?? '')).toBeUndefined();
  });
});
