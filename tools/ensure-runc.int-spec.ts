import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureRunc } from './ensure-runc.mjs';

let folder = '';
let logged: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-runc-'));
  logged = [];
  program('apt-get', `echo "$*" >> ${calls()}`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const calls = (): string => join(folder, 'calls');

const program = (name: string, script: string): void =>
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

const ensure = (isRoot = true): Promise<void> =>
  ensureRunc((text: string) => void logged.push(text), [folder], isRoot);

describe('installing the programs that tests and the bench need', () => {
  it('installs the missing programs with apt-get without removing packages, and logs the command', async () => {
    for (const name of ['runc', 'ip']) program(name, '');
    await ensure();
    const [update, install, ...more] = readFileSync(calls(), 'utf8').trim().split('\n');
    expect(update).toBe('update -q');
    expect(install).toMatch(/ install -y .*--no-remove busybox-static$/);
    expect(more).toEqual([]);
    expect(logged).toEqual(['Installing what the tests need: apt-get install -y busybox-static']);
  });

  it('does nothing if all programs are installed', async () => {
    for (const name of ['runc', 'ip']) program(name, '');
    program('busybox', '');
    await ensure();
    expect([existsSync(calls()), logged]).toEqual([false, []]);
  });

  it('does nothing if the user is not root', async () => {
    await ensure(false);
    expect([existsSync(calls()), logged]).toEqual([false, []]);
  });

  it('does not fail if apt-get fails, because the tests that need the programs do', async () => {
    program('apt-get', 'exit 100');
    await expect(ensure()).resolves.toBeUndefined();
  });
});
