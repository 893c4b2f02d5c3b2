import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';

interface LogsBody {
  readonly logs: readonly { readonly level: string; readonly source: string; readonly message: string }[];
}

/** The life cycle of an agent over HTTP: the same guarantees for every layout of the services. */
export const describeAgentsApi = (stack: () => Stack): void => {
  const api = new Api(stack);
  /** Agents that the tests share, with the templates of these names. */
  let echo: string;
  let probe: string;

  beforeAll(async () => {
    [echo, probe] = (await Promise.all([api.runningAgent(), api.runningAgent({ templateId: 'probe' })])).map(
      ({ id }) => id,
    ) as [string, string];
  }, 60_000);

  const untilCold = async (id: string): Promise<void> => {
    await eventually(
      async () =>
        expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({
          state: 'sleeping',
          sleepDepth: 'cold',
        }),
      { timeoutMs: 20_000, intervalMs: 100 },
    );
  };

  describe('an agent', () => {
    it('is created as deploying, then runs, and answers a chat with its message', async () => {
      const created = await api.post<{ id: string }>('/api/agents', {
        name: 'first one',
        templateId: 'echo',
        externalId: 'user-1',
        labels: { team: 'blue' },
      });
      expect(created.status).toBe(201);
      expect(created.headers.get('location')).toBe(`/api/agents/${created.body.id}`);
      expect(created.body).toMatchObject({
        name: 'first one',
        state: 'deploying',
        externalId: 'user-1',
        idleTtlSeconds: 900,
      });
      await api.inState(created.body.id, 'running');
      const chat = await api.chat(created.body.id, 'hello, Berth');
      expect(chat.status).toBe(200);
      expect(chat.body.response).toContain('hello, Berth');
      expect(chat.body.conversation_id).toMatch(/^cnv_/);
    });

    it('shows a chat as its last activity once the chat has returned', async () => {
      const id = echo;
      const before = Date.now();
      await api.chat(id, 'hello');
      // Its host reports at most once a second, and may have done so while the chat ran.
      const body = await eventually(async () => {
        const { body: agent } = await api.get(`/api/agents/${id}`);
        expect(agent).toMatchObject({ lastActivityKind: 'chat', sleepAt: expect.any(String) });
        return agent;
      });
      expect(Date.parse(String(body['lastActiveAt']))).toBeGreaterThanOrEqual(before);
    });

    it('echoes a message of nearly the maximum size completely', async () => {
      const id = echo;
      const message = 'x'.repeat(1_048_576 - 100);
      const chat = await api.chat(id, message);
      expect([chat.status, chat.body.response.length]).toEqual([200, message.length + 'echo: '.length]);
    });

    it('continues its current conversation, and opens the one that a request names', async () => {
      const id = echo;
      const first = await api.chat(id, 'one');
      const second = await api.chat(id, 'two');
      expect(second.body.conversation_id).toBe(first.body.conversation_id);
      const named = await api.post<{ conversation_id: string }>(`/api/agents/${id}/chat`, {
        message: 'three',
        conversation_id: 'my-thread',
      });
      expect(named.body.conversation_id).toBe('my-thread');
      expect((await api.chat(id, 'four')).body.conversation_id).toBe('my-thread');
    });

    it('is woken by a chat from warm and from cold sleep', async () => {
      const id = probe;
      const before = (await api.chat(id, 'started')).body.response;
      const slept = await api.post<{ state: string; sleepDepth: string }>(`/api/agents/${id}/sleep`);
      expect(slept.status).toBe(200);
      expect(slept.body).toMatchObject({ state: 'sleeping', sleepDepth: 'warm' });
      expect((await api.chat(id, 'started')).body.response).toBe(before);
      await api.post(`/api/agents/${id}/sleep`);
      await untilCold(id);
      const after = await api.chat(id, 'started');
      expect(after.status).toBe(200);
      expect(after.body.response).not.toBe(before);
    });

    it('stays stopped until it is started', async () => {
      const id = echo;
      const stopped = await api.post(`/api/agents/${id}/stop`);
      expect([stopped.status, stopped.body['state']]).toEqual([200, 'stopped']);
      expect((await api.post(`/api/agents/${id}/stop`)).status).toBe(200);
      const chat = await api.chat(id, 'anybody?');
      expect([chat.status, chat.body.detail.code]).toEqual([409, 'agent_stopped']);
      expect((await api.get(`/api/agents/${id}`)).body['state']).toBe('stopped');
      const started = await api.post(`/api/agents/${id}/start`);
      expect([started.status, started.body['state']]).toEqual([200, 'running']);
      expect((await api.chat(id, 'again')).status).toBe(200);
    });

    it('is measured while it runs; when it is stopped, only its disk is', async () => {
      const id = echo;
      const limits = {
        memLimitBytes: expect.any(Number) as number,
        diskLimitBytes: expect.any(Number) as number,
      };
      await api.call('PUT', `/api/agents/${id}/files/write`, {
        body: { path: 'a', content: 'x'.repeat(70_000) },
      });
      const { body } = await api.get(`/api/agents/${id}/stats`);
      expect(body).toMatchObject({ state: 'running', ...limits, startedAt: expect.any(String) as string });
      expect(body['memBytes']).toBeGreaterThan(1_000_000);
      expect(body['processes']).toBeGreaterThan(1);
      expect(body['diskBytes']).toBeGreaterThanOrEqual(70_000);
      await api.post(`/api/agents/${id}/stop`);
      const nothing = { memBytes: null, cpuSeconds: null, processes: null, startedAt: null };
      const stopped = await api.get(`/api/agents/${id}/stats`);
      expect(stopped.body).toMatchObject({ state: 'stopped', ...nothing, ...limits });
      expect(stopped.body['diskBytes']).toBeGreaterThanOrEqual(70_000);
    });

    it('restarts with new processes', async () => {
      const id = probe;
      const before = (await api.chat(id, 'started')).body.response;
      const restarted = await api.post(`/api/agents/${id}/restart`);
      expect([restarted.status, restarted.body['state']]).toEqual([200, 'running']);
      expect((await api.chat(id, 'started')).body.response).not.toBe(before);
    });

    it('is gone and its names are free once its deletion has returned', async () => {
      const { id, name } = await api.runningAgent({ templateId: 'blank', externalId: 'to-be-freed' });
      expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
      for (const gateway of stack().urls.keys())
        expect((await api.get(`/api/agents/${id}`, { gateway })).status).toBe(404);
      expect((await api.chat(id, 'hello')).status).toBe(404);
      expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(404);
      const again = await api.post('/api/agents', { name, templateId: 'blank', externalId: 'to-be-freed' });
      expect(again.status).toBe(201);
    });

    it('can be deleted during its deploy', async () => {
      const created = await api.post<{ id: string }>('/api/agents', {
        name: `gone early ${String(Date.now())}`,
        templateId: 'blank',
      });
      expect((await api.call('DELETE', `/api/agents/${created.body.id}`)).status).toBe(204);
      expect((await api.get(`/api/agents/${created.body.id}`)).status).toBe(404);
    });
  });

  describe('waking', () => {
    it('happens once for twenty concurrent chats, all of which get an answer', async () => {
      const id = echo;
      await api.post(`/api/agents/${id}/sleep`);
      await untilCold(id);
      const starts = async (): Promise<number> => {
        const { body } = await api.get<LogsBody>(`/api/agents/${id}/logs?limit=1000&source=agent`);
        return body.logs.filter(({ message }) => message.includes('the echo agent is listening')).length;
      };
      const before = await starts();
      const gateways = stack().urls.length;
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) => api.chat(id, `number ${String(n)}`, { gateway: n % gateways })),
      );
      const failed = responses.filter(
        ({ status, body }, n) => status !== 200 || !body.response.includes(`number ${String(n)}`),
      );
      expect(failed.map(({ status, body }) => [status, body])).toEqual([]);
      expect((await starts()) - before).toBe(1);
    });

    it('waits for a running chat: an explicit sleep comes after its answer', async () => {
      const id = probe;
      const chat = api.chat(id, 'slow 1500');
      await eventually(async () => {
        const { body } = await api.get(`/api/agents/${id}`);
        // The time of its sleep is unknown while the program has the message.
        return body['lastActivityKind'] === 'chat' && body['sleepAt'] === null;
      });
      const slept = await api.post(`/api/agents/${id}/sleep`);
      expect([(await chat).status, (await chat).body.response]).toEqual([200, 'slept 1500']);
      expect(slept.body).toMatchObject({ state: 'sleeping' });
    });

    it('wins when a chat races with a sleep', async () => {
      const id = echo;
      for (let round = 0; round < 5; round++) {
        const [slept, chat] = await Promise.all([
          api.post(`/api/agents/${id}/sleep`),
          api.chat(id, `round ${String(round)}`),
        ]);
        expect(slept.status).toBe(200);
        expect([chat.status, chat.body.response]).toEqual([
          200,
          expect.stringContaining(`round ${String(round)}`),
        ]);
      }
    });
  });

  describe('messages', () => {
    it('of one conversation are delivered one at a time', async () => {
      const id = probe;
      const responses = await Promise.all(
        Array.from({ length: 5 }, () =>
          api.post(`/api/agents/${id}/chat`, { message: 'slow 50', conversation_id: 'queue' }),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect((await api.chat(id, 'most')).body.response).toBe('1');
    });

    it('that the agent cannot handle return its error, with its message', async () => {
      const id = probe;
      const failed = await api.chat(id, 'fail');
      expect([failed.status, failed.body.detail.code]).toEqual([502, 'agent_error']);
      expect(JSON.stringify(failed.body)).toContain('the model said no');
    });

    it('whose agent dies midway end as an error of the agent, and the agent restarts', async () => {
      const id = probe;
      const died = await api.chat(id, 'die');
      expect([died.status, died.body.detail.code]).toEqual([502, 'agent_error']);
      await eventually(async () => expect((await api.chat(id, 'pid')).status).toBe(200), {
        timeoutMs: 20_000,
      });
    });

    it('fail in a blank agent, which has no chat', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      const chat = await api.chat(id, 'hello');
      expect([chat.status, chat.body.detail.code]).toEqual([501, 'chat_unsupported']);
    });
  });

  describe('a program that keeps dying', () => {
    it('makes its agent fail with the reason, and its logs can be read', async () => {
      const created = await api.post<{ id: string }>('/api/agents', {
        name: `crasher ${String(Date.now())}`,
        templateId: 'crasher',
      });
      const failed = await api.inState(created.body.id, 'failed', 60_000);
      expect(failed['lastError']).toMatchObject({
        code: expect.any(String),
        message: expect.stringContaining('7'),
      });
      const { body } = await api.get<LogsBody>(`/api/agents/${created.body.id}/logs`);
      expect(
        body.logs.some(
          ({ message, source }) => source === 'agent' && message.includes('cannot find its settings'),
        ),
      ).toBe(true);
      const chat = await api.chat(created.body.id, 'hello');
      expect([chat.status, chat.body.detail.code]).toEqual([409, 'agent_failed']);
    });
  });
};
