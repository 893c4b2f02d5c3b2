import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensurePrograms } from './ensure-programs.mjs';

const SERVERS = ['runc', 'busybox', 'ip', 'curl', 'python3', 'pip3', 'sqlite3', 'pg_ctlcluster', 'chromium'];
const DESKTOP = [
  'thunar',
  'xdg-open',
  'file',
  'Xvnc',
  'openbox',
  'tint2',
  'xterm',
  'xclip',
  'xprop',
  'setxkbmap',
  'identify',
];
const PROGRAMS = [...SERVERS, ...DESKTOP];

let folder = '';
let logged: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-programs-'));
  logged = [];
  program('apt-get', `echo "$*" >> ${calls()}`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const calls = (): string => join(folder, 'calls');

const program = (name: string, script = ''): void =>
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

/** A machine that has all of them but these. */
const without = (...missing: readonly string[]): void => {
  for (const name of PROGRAMS) if (!missing.includes(name)) program(name);
};

const ensure = (isRoot = true): Promise<void> =>
  ensurePrograms((text: string) => void logged.push(text), [folder], isRoot);

/** The arguments of the calls to apt-get, without options. */
const called = (): readonly string[] =>
  readFileSync(calls(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.replace(/^(-o \S+ )?(\w+)( --?\S+)*/, '$2'));

describe('installing the programs that the tests need', () => {
  it('installs the missing ones with apt-get without removing packages, and says what is still missing', async () => {
    without('busybox', 'chromium');
    await ensure();
    expect(called()).toEqual(['update', 'install busybox-static chromium-headless-shell chromium']);
    expect(readFileSync(calls(), 'utf8')).toMatch(/ install -y .*--no-remove busybox-static/);
    const names = 'busybox-static chromium-headless-shell chromium';
    expect(logged).toEqual([
      `Installing what the tests need: apt-get install -y ${names}`,
      `Some tests will fail until you run: apt-get install -y ${names}`,
    ]);
  });

  it('does nothing if all programs are installed, with whichever Chromium', async () => {
    without('chromium');
    program('google-chrome');
    await ensure();
    expect([existsSync(calls()), logged]).toEqual([false, []]);
  });

  it('says in one line what to install if the user is not root, and calls nothing', async () => {
    without('ip', 'chromium');
    await ensure(false);
    expect(existsSync(calls())).toBe(false);
    expect(logged).toEqual([
      'Some tests will fail until you run: apt-get install -y iproute2 chromium-headless-shell chromium',
    ]);
  });

  it('installs them one by one if the distribution does not have one of them', async () => {
    without('busybox', 'chromium');
    program('apt-get', `echo "$*" >> ${calls()}; case "$*" in *chromium*) exit 100;; esac`);
    await ensure();
    expect(called()).toEqual([
      'update',
      'install busybox-static chromium-headless-shell chromium',
      'install busybox-static',
      'install chromium-headless-shell',
      'install chromium',
    ]);
  });

  it('does not fail if apt-get fails, because the tests that need the programs do', async () => {
    program('apt-get', 'exit 100');
    await expect(ensure()).resolves.toBeUndefined();
  });
});
