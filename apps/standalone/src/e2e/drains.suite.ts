import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@berth/testing';
import type { FakeUpstream } from '@berth/testing/upstream';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { LlmAgent } from './llm.fixture.js';
import type { SeparateStack } from './separate-processes.fixture.js';

/** Longer than a process may take to stop. */
const LONG_MS = 12_000;
const MODEL = 'drained';
const DRAINED = ['delivery', 'exec', 'exec-2', 'llm'];

/** What a deploy relies on when it replaces services. */
export const describeDrains = (stack: () => SeparateStack, upstream: () => FakeUpstream): void => {
  const api = new Api(stack);

  describe('services that get SIGUSR2', () => {
    it('finish the commands, chats and calls of models in flight, however long a stop may take, and end', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const program = await LlmAgent.of(api, stack, id);
      upstream().on(MODEL, { textTokens: 10, pauseAfter: { chunks: 1, pause: delay(LONG_MS) } });
      const calls = [
        api.chat(id, `slow ${String(LONG_MS)}`),
        new Executions(api, id).run(`sleep ${String(LONG_MS / 1000)}`),
        program.send(MODEL, { stream: true, max_tokens: 60 }),
      ];
      await eventually(async () => {
        expect(upstream().requestsFor(MODEL)).toHaveLength(1);
        const { body } = await api.get<{ items: object[] }>(`/api/agents/${id}/exec?status=running`);
        expect(body.items).toHaveLength(1);
      });
      const programs = DRAINED.map((name) => stack().programs.get(name));
      for (const one of programs) one?.child.kill('SIGUSR2');
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(await Promise.all(programs.map((one) => one?.exited))).toEqual(DRAINED.map(() => 0));
      for (const name of DRAINED) await stack().replace(name);
      await eventually(async () => expect((await api.chat(id, 'back?')).status).toBe(200), {
        timeoutMs: 30_000,
      });
    }, 120_000);
  });
};
