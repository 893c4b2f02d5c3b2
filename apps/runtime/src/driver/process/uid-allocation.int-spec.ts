import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UidAllocation } from './uid-allocation.js';

describe('the users of agents', () => {
  let file: string;

  beforeEach(() => {
    file = join(mkdtempSync(join(tmpdir(), 'berth-uids-')), 'uids.json');
  });

  afterEach(() => rmSync(join(file, '..'), { recursive: true, force: true }));

  it('are unique per agent, stable across restarts, and free again after a removal', async () => {
    const uids = await UidAllocation.open(file, 'abcdef012345', 61_000);
    const [one, two] = await Promise.all([uids.allocate('a'), uids.allocate('b')]);
    expect([one, two]).toEqual([61_000, 61_001]);
    const again = await UidAllocation.open(file, 'abcdef012345', 61_000);
    expect(again.find('b')).toBe(61_001);
    expect(await again.allocate('a')).toBe(61_000);
    await again.release('a');
    expect(await again.allocate('c')).toBe(61_000);
  });

  it('differ between two hosts on one machine', async () => {
    const one = await UidAllocation.open(file, '000000010000', undefined);
    const two = await UidAllocation.open(`${file}2`, '000000020000', undefined);
    const [first, second] = [await one.allocate('a'), await two.allocate('a')];
    expect(first).toBeGreaterThan(999);
    expect(first === second && first !== 61_000).toBe(false);
  });
});
