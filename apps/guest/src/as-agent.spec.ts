import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { asAgent } from './as-agent.js';

const command = { file: '/bin/sh', args: ['-c', 'id'], env: { A: '1' } } as const;

describe('a command of the agent', () => {
  it('runs as the user of the guest without a user of its own', () => {
    expect(asAgent(null, command)).toEqual({
      ...command,
      user: { argv0: '/bin/sh' },
    });
  });

  it('runs as its user, under the name that it was given', () => {
    expect(asAgent({ uid: 7, gid: 8 }, { ...command, argv0: 'sh' })).toEqual({
      ...command,
      user: { uid: 7, gid: 8, argv0: 'sh' },
    });
  });

  it('is called by the launcher, which changes the user', () => {
    const runAs = { uid: 7, gid: 8, launcher: ['/setpriv', '--reuid=7', '--'] } as const;
    expect(asAgent(runAs, command)).toEqual({
      env: command.env,
      file: '/setpriv',
      args: ['--reuid=7', '--', '/bin/sh', '-c', 'id'],
      user: {},
    });
  });

  it('has its variables, none of which reaches the launcher if the loader would obey it', () => {
    const runAs = { uid: 7, gid: 8, launcher: ['/bin/env', '--'], shell: '/bin/bash' } as const;
    const env = { A: "it's", LD_PRELOAD: "/tmp/x'y.so", GLIBC_TUNABLES: 'glibc.malloc.check=0' };
    const started = asAgent(runAs, { file: '/usr/bin/env', args: [], env });
    expect(Object.keys(started.env)).toEqual(['A', 'BERTH_HELD_VARIABLES']);
    const seen = execFileSync(started.file, [...started.args], { env: started.env, encoding: 'utf8' });
    expect(seen.split('\n')).toEqual(
      expect.arrayContaining(Object.entries(env).map(([name, value]) => `${name}=${value}`)),
    );
    expect(seen).not.toContain('BERTH_HELD');
  });

  it('loses such variables if there is no shell to restore them', () => {
    const runAs = { uid: 7, gid: 8, launcher: ['/setpriv', '--'] } as const;
    expect(asAgent(runAs, { ...command, env: { A: '1', LD_PRELOAD: '/x' } }).env).toEqual({ A: '1' });
  });
});
