import { once } from 'node:events';
import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Api } from './api.fixture.js';
import { aliveIn, Executions } from './executions.fixture.js';
import type { Stack } from './stack.fixture.js';

interface OpenConsole {
  readonly socket: WebSocket;
  /** Everything that the terminal has printed. */
  shown(): string;
}

export const openConsole = (stack: Stack, agentId: string, query = ''): OpenConsole => {
  const url = `${stack.urls.at(-1)?.replace('http', 'ws') ?? ''}/api/agents/${agentId}/console${query}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${stack.key}` } });
  const chunks: Buffer[] = [];
  socket.on('message', (data) => chunks.push(data as Buffer));
  return { socket, shown: () => Buffer.concat(chunks).toString('utf8') };
};

/** A terminal in an agent over a WebSocket. */
export const describeConsoleApi = (stack: () => Stack): void => {
  const api = new Api(stack);
  const open = (agentId: string, query?: string): OpenConsole => openConsole(stack(), agentId, query);

  describe('a console', () => {
    let id: string;
    beforeAll(async () => {
      ({ id } = await api.runningAgent({ templateId: 'blank' }));
    }, 60_000);

    it('wakes the agent, is a terminal in its volume, can be resized and ends with its shell', async () => {
      await api.post(`/api/agents/${id}/sleep`);
      const { socket, shown } = open(id, '?cols=90&rows=30');
      await once(socket, 'open');
      socket.send(Buffer.from('tty >/dev/null && echo "[$(stty size)] [$BERTH_AGENT_ID]"\n'));
      await eventually(() => shown().includes(`[30 90] [${id}]`), { timeoutMs: 10_000 });
      socket.send('{"type":"resize","cols":111,"rows":22}');
      socket.send(Buffer.from('echo "[$(stty size)]"\n'));
      await eventually(() => shown().includes('[22 111]'), { timeoutMs: 10_000 });
      const closed = once(socket, 'close');
      socket.send(Buffer.from('exit\n'));
      expect((await closed)[0]).toBe(1000);
    });

    it('closed by its client leaves no process behind', async () => {
      const { socket, shown } = open(id);
      await once(socket, 'open');
      socket.send(Buffer.from('echo "pid=$$."\n'));
      await eventually(() => /pid=\d+\./.test(shown()), { timeoutMs: 10_000 });
      const pid = /pid=(\d+)\./.exec(shown())?.[1] ?? '';
      socket.terminate();
      const exec = new Executions(api, id);
      await eventually(async () => expect((await exec.run(aliveIn(pid))).body.stdout).toBe(''), {
        timeoutMs: 10_000,
      });
    });

    it('is closed when its agent is put to sleep', async () => {
      const { socket } = open(id);
      await once(socket, 'open');
      const closed = once(socket, 'close');
      await api.post(`/api/agents/${id}/sleep`);
      expect((await closed)[0]).toBe(1011);
    });

    it('is refused in the same cases as a command', async () => {
      await api.post(`/api/agents/${id}/stop`);
      const { socket } = open(id);
      socket.on('error', () => undefined);
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
      expect(response.statusCode).toBe(409);
    });
  });
};
