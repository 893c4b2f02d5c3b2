import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureRunc } from './ensure-runc.mjs';

let folder = '';
let said: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-runc-'));
  said = [];
  program('apt-get', `echo "$*" >> ${calls()}`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const calls = (): string => join(folder, 'calls');

const program = (name: string, script: string): void =>
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

const ensure = (isRoot = true): Promise<void> =>
  ensureRunc((text: string) => void said.push(text), [folder], isRoot);

describe('installing what the bench compares with', () => {
  it('has apt-get install what is missing, takes nothing away for it, and says so', async () => {
    program('runc', '');
    await ensure();
    const [update, install, ...more] = readFileSync(calls(), 'utf8').trim().split('\n');
    expect(update).toBe('update -q');
    expect(install).toMatch(/ install -y .*--no-remove busybox-static$/);
    expect(more).toEqual([]);
    expect(said).toEqual(['Installing what the bench compares with: apt-get install -y busybox-static']);
  });

  it('does nothing where everything is there', async () => {
    program('runc', '');
    program('busybox', '');
    await ensure();
    expect([existsSync(calls()), said]).toEqual([false, []]);
  });

  it('does nothing for somebody who is not root', async () => {
    await ensure(false);
    expect([existsSync(calls()), said]).toEqual([false, []]);
  });

  it('leaves it to the tests to fail where apt-get does not install', async () => {
    program('apt-get', 'exit 100');
    await expect(ensure()).resolves.toBeUndefined();
  });
});
