import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Generous: a wake begins at most 5 s late, and then the program has to answer. */
const FIRED = { timeoutMs: 60_000, intervalMs: 250 };

/** Schedules that agents publish, over HTTP. */
export const describeSchedules = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe.concurrent('a schedule', () => {
    it('wakes its sleeping agent and hands its prompt over, once', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const own = new AgentSchedules(api, id);
      const nextRunAt = fromNow(8_000);
      expect(await own.publish({ id: 'tea', nextRunAt, prompt: 'mark tea' })).toEqual({
        status: 200,
        body: { entries: 1 },
      });
      const entry = { id: 'tea', cron: null, tz: null, nextRunAt, prompt: 'mark tea', source: 'pushed' };
      expect(await own.only()).toEqual({ ...entry, nextWakeAt: nextRunAt, lastRunAt: null, lastError: null });
      expect(await own.agent()).toMatchObject({ nextWakeAt: nextRunAt });
      await own.sleep();
      expect(await own.agent()).toMatchObject({ state: 'sleeping' });
      const done = await eventually(async () => {
        const now = await own.only();
        expect(now).toMatchObject({
          nextWakeAt: null,
          lastError: null,
          lastRunAt: expect.any(String) as string,
        });
        return now;
      }, FIRED);
      const late = Date.parse(done.lastRunAt ?? '') - Date.parse(nextRunAt);
      expect(late).toBeGreaterThanOrEqual(0);
      await api.inState(id, 'running');
      expect(await own.agent()).toMatchObject({ nextWakeAt: null });
      expect((await own.executions.wrote('marks')).split(' ')[1]).toBe('tea');
    });
  });
};
