import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { Files } from './files.fixture.js';
import { AgentSchedules } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';

/** The shipped templates that need more of their driver than the others: Berth's API from inside, a model, a shell. */
export const describeShippedTemplates = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('the shipped template', () => {
    it('assistant calls its model from inside, and uses its own shell and files', async () => {
      const { id } = await api.runningAgent({ templateId: 'assistant' });
      const { status, body } = await api.chat(id, 'use shell {"command":"echo written > note; cat note"}');
      expect([status, body.response]).toEqual([200, expect.stringContaining('written')]);
      const { entries } = (await new Files(stack, id).list()).body;
      expect(entries.map(({ name }) => name)).toContain('note');
    });

    it('reminder publishes what it is asked for as schedules, also after another start', async () => {
      const { id } = await api.runningAgent({ templateId: 'reminder' });
      const own = new AgentSchedules(api, id);
      await api.chat(id, 'Every weekday at 9 plan the day');
      expect(await own.only()).toMatchObject({ cron: '0 9 * * 1-5', tz: 'UTC', lastError: null });
      await api.post(`/api/agents/${id}/restart`);
      await api.inState(id, 'running');
      expect((await api.chat(id, 'list')).body.response).toContain('plan the day');
      await api.chat(id, 'forget');
      expect((await own.list()).body.items).toEqual([]);
    });
  });
};
