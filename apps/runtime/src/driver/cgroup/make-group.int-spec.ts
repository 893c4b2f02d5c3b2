import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeGroup } from './make-group.js';

let parent: string;
let umask: number;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'berth-group-'));
  umask = process.umask(0o077);
});

afterEach(() => {
  process.umask(umask);
  rmSync(parent, { recursive: true });
});

describe('a control group that the runtime makes under the umask 077', () => {
  const group = (): string => join(parent, 'group');

  it('can be entered by everyone', async () => {
    await makeGroup(group());
    expect(statSync(group()).mode & 0o777).toBe(0o755);
  });

  it('can be entered by everyone if it was there already', async () => {
    mkdirSync(group());
    await makeGroup(group());
    expect(statSync(group()).mode & 0o777).toBe(0o755);
  });
});
