import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

  it('are unique per agent and stable across restarts', async () => {
    const uids = await UidAllocation.open(file, 'abcdef012345', 61_000);
    const [one, two] = await Promise.all([uids.allocate('a'), uids.allocate('b')]);
    expect([one, two]).toEqual([61_000, 61_001]);
    const again = await UidAllocation.open(file, 'abcdef012345', 61_000);
    expect(again.find('b')).toBe(61_001);
    expect(await again.allocate('a')).toBe(61_000);
  });

  it('pass to other agents when all others were given away, the longest free first, across restarts', async () => {
    const uids = await UidAllocation.open(file, 'abcdef012345', 61_000, 6);
    for (const agentId of ['a', 'b', 'c']) await uids.allocate(agentId);
    for (const agentId of ['b', 'a']) await uids.release(agentId);
    const again = await UidAllocation.open(file, 'abcdef012345', 61_000, 6);
    const given: number[] = [];
    for (const agentId of ['d', 'e', 'f', 'g', 'h']) given.push(await again.allocate(agentId));
    expect(given).toEqual([61_003, 61_004, 61_005, 61_001, 61_000]);
    await expect(again.allocate('i')).rejects.toMatchObject({ code: 'host_exhausted' });
  });

  it('are kept by the agents that an earlier version of Berth has given them to', async () => {
    writeFileSync(file, JSON.stringify({ a: 61_000, b: 61_002, elsewhere: 70_000 }));
    const uids = await UidAllocation.open(file, 'abcdef012345', 61_000);
    expect([uids.find('b'), uids.find('elsewhere'), uids.agentOf(61_000)]).toEqual([61_002, 70_000, 'a']);
    expect(await uids.allocate('c')).toBe(61_003);
  });

  it('differ between two hosts on one machine', async () => {
    const one = await UidAllocation.open(file, '000000010000', undefined);
    const two = await UidAllocation.open(`${file}2`, '000000020000', undefined);
    const [first, second] = [await one.allocate('a'), await two.allocate('a')];
    expect(first).toBeGreaterThan(999);
    expect(first === second && first !== 61_000).toBe(false);
  });
});
