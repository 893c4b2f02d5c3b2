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
    const runAs = { uid: 7, gid: 8, launcher: ['/become', '7', '8', '0', '--'] } as const;
    expect(asAgent(runAs, command)).toEqual({
      env: command.env,
      file: '/become',
      args: ['7', '8', '0', '--', '/bin/sh', '-c', 'id'],
      user: {},
    });
  });
});
