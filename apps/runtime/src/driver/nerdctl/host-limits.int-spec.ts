import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { raiseHostLimits } from './host-limits.js';

let settings: string;
let warned: unknown[];
const log = { warn: (...words: unknown[]) => void warned.push(words) };

const KEYS = ['kernel/keys/maxkeys', 'kernel/keys/maxbytes'];
const WATCHES = ['fs/inotify/max_user_instances', 'fs/inotify/max_user_watches'];
const NAMES = [...KEYS, ...WATCHES, 'fs/epoll/max_user_watches'];

const set = (values: readonly number[]): void => {
  for (const folder of ['kernel/keys', 'fs/inotify', 'fs/epoll'])
    mkdirSync(join(settings, folder), { recursive: true });
  for (const [index, name] of NAMES.entries())
    writeFileSync(join(settings, name), `${String(values[index])}\n`);
};
const present = (): readonly number[] =>
  NAMES.map((name) => Number(readFileSync(join(settings, name), 'utf8')));

beforeEach(() => {
  settings = mkdtempSync(join(tmpdir(), 'berth-limits-'));
  warned = [];
});
afterEach(() => rmSync(settings, { recursive: true }));

describe('the limits of the kernel that all agents of a host share', () => {
  it('are raised from its defaults: too few keys for 200 containers, as many inotify instances as one agent may have', async () => {
    set([200, 20_000, 128, 65_536, 300_000]);
    await raiseHostLimits(log, settings);
    expect(present()).toEqual([100_000, 10_000_000, 1_048_576, 1_073_741_824, 1_073_741_824]);
    expect(warned).toEqual([]);
  });

  it('of an operator are not lowered', async () => {
    const values = [1_000_000, 25_000_000, 2_000_000, 2_000_000_000, 3_000_000_000];
    set(values);
    await raiseHostLimits(log, settings);
    expect(present()).toEqual(values);
  });

  it('that cannot be raised keep no host from starting, and the log says so', async () => {
    await raiseHostLimits(log, settings);
    expect(warned).toHaveLength(NAMES.length);
  });
});
