import { newId } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { berth } from './recording-service.fixture.js';

const id = newId('cmp');
const url = `/api/v1/computers/${id}/exec`;
const ended = (more: object) => ({
  status: 200,
  body: { executionId: 'exe_1', status: 'completed', exitCode: 0, stdout: '', stderr: '', ...more },
});

describe('berth computers exec', () => {
  it.each([0, 3, 255])(
    'ends with the exit code %d of the command, and prints only its output',
    async (exitCode) => {
      const result = await berth(['computers', 'exec', id, '--', 'echo $HOME'], {
        respond: () => ended({ exitCode, stdout: 'out', stderr: 'err' }),
      });
      expect(result).toMatchObject({ exitCode, out: 'out', err: 'err' });
      expect(result.seen).toMatchObject([
        { method: 'POST', url, body: { command: 'echo $HOME', timeout: 60 } },
      ]);
    },
  );

  it('sends several words as one command, with what it runs in', async () => {
    const options = ['--timeout', '1.5', '--cwd', 'sub', '--env', 'A=b=c', '--env', 'D='];
    const argv = ['computers', 'exec', ...options, id, '--', 'ls', '-l'];
    const { seen } = await berth(argv, { respond: () => ended({}) });
    expect(seen[0]?.body).toEqual({
      command: ['ls', '-l'],
      timeout: 1.5,
      cwd: 'sub',
      env: { A: 'b=c', D: '' },
    });
  });

  it('ends with 124 when the command took too long, with its output so far', async () => {
    const result = await berth(['computers', 'exec', id, 'sleep 9'], {
      respond: () => ended({ status: 'timed_out', exitCode: -1, stdout: 'so far' }),
    });
    expect(result).toMatchObject({ exitCode: 124, out: 'so far' });
  });

  it.each([
    [
      'a refusal',
      ['exec', id, 'true'],
      { respond: () => ({ status: 409, body: { detail: { code: 'computer_failed' } } }) },
    ],
    ['an unreachable service', ['exec', id, 'true'], { env: { BERTH_URL: 'http://127.0.0.1:1' } }],
    ['no key', ['exec', id, 'true'], { env: { BERTH_API_KEY: '' } }],
    ['a command line without a command', ['exec', id], {}],
    ['a command line with an unknown option', ['exec', '--tty', id, 'true'], {}],
    [
      'a command that another one killed',
      ['exec', id, 'true'],
      { respond: () => ended({ status: 'cancelled', exitCode: -1 }) },
    ],
  ])('ends with 125 for %s', async (_what, argv, options) => {
    expect((await berth(['computers', ...argv], options)).exitCode).toBe(125);
  });

  it('says how it ended as JSON, and still ends with the exit code', async () => {
    const response = ended({ exitCode: 7 });
    const result = await berth(['computers', 'exec', '--json', id, 'exit 7'], { respond: () => response });
    expect([result.exitCode, JSON.parse(result.out)]).toEqual([7, response.body]);
  });
});
