import { CUT_MARK, GUEST_ROUTES, KEPT_CHARACTERS, type RunLegacyCommand } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandGuest, runs } from '../__fixtures__/executions.fixture.js';
import type { Reply } from '../__fixtures__/guest.fixture.js';

describe('a command in an older guest', () => {
  let guest: CommandGuest;

  beforeAll(async () => {
    guest = await CommandGuest.open('legacy');
  });

  afterAll(() => guest.destroy());

  const run = async (command: string, changes: Partial<RunLegacyCommand> = {}): Promise<Reply['body']> => {
    const body = { command, cwd: null, env: {}, timeoutMs: 60_000, ...changes };
    return (await guest.ask(GUEST_ROUTES.executeLegacy, body)).body;
  };

  it('returns both streams combined, in order of arrival', async () => {
    const command = 'for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7';
    expect(await run(command)).toEqual({
      exitCode: 7,
      output: 'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n',
    });
  });

  it('starts in the given folder, with the given environment', async () => {
    const { output } = await run('echo "$PWD $MINE $0 $#"', { cwd: '/usr', env: { MINE: 'x' } });
    expect(output).toBe('/usr x /bin/sh 0\n');
    expect((await run('true', { cwd: 'gone' })).error?.code).toBe('invalid_cwd');
  });

  it('has its output truncated like any other command', async () => {
    const { output } = await run('yes | head -c 600000; yes | head -c 600000 >&2');
    expect(output === CUT_MARK + 'y\n'.repeat(KEPT_CHARACTERS / 2)).toBe(true);
  });

  it('ends at its timeout with the output so far', async () => {
    expect(await run('echo a; setsid sleep 1000 & sleep 1000', { timeoutMs: 300 })).toEqual({
      exitCode: -1,
      output: 'a\n',
    });
  });

  it('runs only through the legacy route: the guest knows no other execution route', async () => {
    const { execute, execution, runningExecutions, cancelExecution, failExecutions, executionOutput } =
      GUEST_ROUTES;
    for (const route of [
      execute,
      execution,
      runningExecutions,
      cancelExecution,
      failExecutions,
      executionOutput,
    ]) {
      const { body } = await guest.ask(route, route.method === 'POST' ? {} : undefined);
      expect(body.error?.code).toBe('guest_route_unknown');
    }
  });

  it('ends with its guest', async () => {
    const response = run('echo $$ > begun; echo a; sleep 1000').catch(() => undefined);
    const pid = await eventually(() => Number(guest.read('begun').trim()) || false);
    await guest.shutDown(500);
    expect(runs(Number(pid))).toBe(false);
    expect([undefined, { exitCode: -1, output: 'a\n' }]).toContainEqual(await response);
  });
});
