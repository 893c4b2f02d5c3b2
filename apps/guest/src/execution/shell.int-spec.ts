import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { findShell, shellArguments, type Shell } from './shell.js';

describe('the shell', () => {
  const run = (shell: Shell, command: string, folder: string | null = null): string =>
    spawnSync(shell.path, shellArguments(shell, { command, folder, merged: false }), {
      argv0: shell.argv0,
      encoding: 'utf8',
      cwd: '/',
    }).stdout;

  it("is the image's own, even when the guest ships one", () => {
    expect(findShell('/bin/true')).toEqual({ path: '/bin/sh', argv0: '/bin/sh' });
  });

  it('is the one that the guest ships if the image has none, and runs under the name sh', () => {
    const shell = findShell('/bin/sh', '/no/such/sh');
    if (shell === undefined) throw new Error('The shipped shell was not found.');
    expect(run(shell, 'echo "$0 $#"')).toBe('sh 0\n');
    expect(run(shell, 'echo "$0 $# $PWD"', '/usr')).toBe('sh 0 /usr\n');
  });

  it('is undefined when neither can be executed', () => {
    expect(findShell(undefined, '/no/such/sh')).toBeUndefined();
    expect(findShell('/etc/passwd', '/no/such/sh')).toBeUndefined();
  });
});
