import { describe, expect, it } from 'vitest';
import { asAgent } from './as-agent.js';

describe('a command of the agent', () => {
  it('runs as the user of the guest without a user of its own', () => {
    expect(asAgent(null, '/bin/sh', ['-c', 'id'])).toEqual({
      file: '/bin/sh',
      args: ['-c', 'id'],
      user: { argv0: '/bin/sh' },
    });
  });

  it('runs as its user, under the name that it was given', () => {
    expect(asAgent({ uid: 7, gid: 8 }, '/busybox', ['-c', 'id'], 'sh')).toEqual({
      file: '/busybox',
      args: ['-c', 'id'],
      user: { uid: 7, gid: 8, argv0: 'sh' },
    });
  });

  it('is called by the launcher, which changes the user', () => {
    const runAs = { uid: 7, gid: 8, launcher: ['/setpriv', '--reuid=7', '--'] } as const;
    expect(asAgent(runAs, '/bin/sh', ['-c', 'id'])).toEqual({
      file: '/setpriv',
      args: ['--reuid=7', '--', '/bin/sh', '-c', 'id'],
      user: {},
    });
  });
});
