import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { raiseKeyQuota } from './key-quota.js';

let settings: string;
let warned: unknown[];
const log = { warn: (...words: unknown[]) => void warned.push(words) };
const set = (name: string, value: number): void => writeFileSync(join(settings, name), `${String(value)}\n`);
const valueOf = (name: string): number => Number(readFileSync(join(settings, name), 'utf8'));

beforeEach(() => {
  settings = mkdtempSync(join(tmpdir(), 'berth-keys-'));
  warned = [];
});
afterEach(() => rmSync(settings, { recursive: true }));

describe('the quota of keys', () => {
  it('is raised from the default of the kernel, which is too low for 200 containers', async () => {
    set('maxkeys', 200);
    set('maxbytes', 20_000);
    await raiseKeyQuota(log, settings);
    expect([valueOf('maxkeys'), valueOf('maxbytes')]).toEqual([100_000, 10_000_000]);
    expect(warned).toEqual([]);
  });

  it('of an operator is not lowered', async () => {
    set('maxkeys', 1_000_000);
    set('maxbytes', 25_000_000);
    await raiseKeyQuota(log, settings);
    expect([valueOf('maxkeys'), valueOf('maxbytes')]).toEqual([1_000_000, 25_000_000]);
  });

  it('that cannot be raised keeps no host from starting, and the log says so', async () => {
    await raiseKeyQuota(log, settings);
    expect(warned).toHaveLength(2);
  });
});
