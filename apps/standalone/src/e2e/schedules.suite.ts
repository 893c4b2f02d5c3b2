import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Generous: a wake begins at most 5 s late, and then the program has to answer. */
/** Long enough to publish it and to put the agent to sleep on a loaded machine. */
const SOON_MS = 20_000;
const FIRED = { timeoutMs: 60_000, intervalMs: 250 };

/** Schedules that agents publish, over HTTP. */
export const describeSchedules = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe.concurrent('a schedule', () => {
    it('wakes its sleeping agent and hands its prompt over, once', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const own = new AgentSchedules(api, id);
      const nextRunAt = fromNow(SOON_MS);
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
      await eventually(async () => expect(await own.agent()).toMatchObject({ nextWakeAt: null }), FIRED);
      expect((await own.executions.wrote('marks')).split(' ')[1]).toBe('tea');

      // One id fires at most once a minute, whatever its agent publishes.
      const tooSoon = fromNow(1_000);
      expect((await own.publish({ id: 'tea', nextRunAt: tooSoon })).status).toBe(200);
      const next = Math.max(Date.parse(tooSoon), Date.parse(nextRunAt) + 60_000);
      expect((await own.only()).nextWakeAt).toBe(new Date(next).toISOString());
      await own.publish();
    });

    it('of an invalid list is refused by the name of its entry, and nothing is changed', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      const own = new AgentSchedules(api, id);
      const valid = { id: 'kept', cron: '0 9 * * 1-5', tz: 'Europe/Berlin' };
      expect((await own.publish(valid)).status).toBe(200);
      const refused = await own.publish(
        { id: 'a', cron: '@daily' },
        { id: 'b' },
        { id: 'c', cron: '0 0 30 2 *' },
        { id: 'a', cron: '@daily', tz: '+02:00' },
      );
      expect(refused.status).toBe(400);
      const { code, fields } = refused.body['detail'] as { code: string; fields: { path: string }[] };
      expect([code, fields.map(({ path }) => path)]).toEqual([
        'invalid_schedule',
        ['entries[1]', 'entries[2].cron', 'entries[3].id', 'entries[3].tz'],
      ]);
      const isNoList = {
        code: 'invalid_schedule',
        fields: [{ path: 'entries', message: 'must be a list' }],
      };
      for (const body of [{}, { entries: {} }, { entries: null }])
        expect(await own.call({ body })).toMatchObject({ status: 400, body: { detail: isNoList } });
      const beyond: readonly (readonly [string, readonly object[]])[] = [
        ['entries', Array.from({ length: 101 }, (_, n) => ({ id: String(n), cron: '@daily' }))],
        ['entries[0].id', [{ id: 'x'.repeat(129), cron: '@daily' }]],
        ['entries[0].id', [{ id: '', cron: '@daily' }]],
        ['entries[0].prompt', [{ id: 'a', cron: '@daily', prompt: 'é'.repeat(8_193) }]],
        ...['tomorrow', '2030-01-01T00:00:00', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59-01:00'].map(
          (nextRunAt) => ['entries[0].nextRunAt', [{ id: 'a', nextRunAt }]] as const,
        ),
        ...['@reboot', '0 0 L * *', '0 0 ? * 1', '0 0 15W * *', '0 0 * * 1#2', '* * * * * *'].map(
          (cron) => ['entries[0].cron', [{ id: 'a', cron }]] as const,
        ),
      ];
      for (const [path, entries] of beyond) {
        const { status, body } = await own.publish(...entries);
        const { fields: found } = body['detail'] as { fields: { path: string }[] };
        expect([path, status, found.map((field) => field.path)]).toEqual([path, 400, [path]]);
      }
      expect(await own.only()).toMatchObject({ ...valid, nextRunAt: null, prompt: null });
      expect((await own.publish()).body).toEqual({ entries: 0 });
      expect((await own.list()).body.items).toEqual([]);
    });

    it('may have the largest list that there is, and nextRunAt takes precedence over cron', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      const own = new AgentSchedules(api, id);
      const crons = [
        '@hourly',
        '@daily',
        '@weekly',
        '@monthly',
        '@yearly',
        '0 9 * jan,FEB mon-Fri',
        '0 0 1 * 7',
      ];
      const nextRunAt = fromNow(3_600_000);
      const longest = { id: '😀'.repeat(128), cron: '@daily', prompt: 'é'.repeat(8_192), nextRunAt };
      const others = Array.from({ length: 99 }, (_, n) => ({
        id: String(n),
        cron: crons[n % crons.length],
        tz: n % 2 === 0 ? 'America/St_Johns' : undefined,
      }));
      expect(await own.publish(longest, ...others)).toEqual({ status: 200, body: { entries: 100 } });
      const { items } = (await own.list()).body;
      expect(items.map((item) => item.id)).toEqual([longest, ...others].map((entry) => entry.id));
      expect(items[0]).toMatchObject({ ...longest, nextWakeAt: nextRunAt });
      expect(items.filter(({ nextWakeAt }) => nextWakeAt === null)).toEqual([]);
      await own.publish();
    });

    it('whose nextRunAt has passed fires at once and once ever, however the time is written, and its cron follows', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const own = new AgentSchedules(api, id);
      const entriesAt = (nextRunAt: string) => [
        { id: 'once', nextRunAt, prompt: 'mark once' },
        { id: 'follows', nextRunAt, cron: '@yearly', prompt: 'mark follows' },
      ];
      const nextYear = `${String(new Date().getUTCFullYear() + 1)}-01-01T00:00:00.000Z`;
      const expectFired = () =>
        eventually(async () => {
          const { items } = (await own.list()).body;
          expect(items).toMatchObject([
            { nextWakeAt: null, lastError: null, lastRunAt: expect.any(String) as string },
            { nextWakeAt: nextYear, lastError: null, lastRunAt: expect.any(String) as string },
          ]);
          expect((await own.executions.run('cat marks')).body.stdout.trim().split('\n')).toHaveLength(2);
        }, FIRED);
      expect((await own.publish(...entriesAt('2020-01-01T00:00:00Z'))).status).toBe(200);
      await expectFired();
      await own.publish();
      expect((await own.publish(...entriesAt('2020-01-01T01:00:00+01:00'))).status).toBe(200);
      const marks = (await own.executions.run('cat marks')).body.stdout;
      const again = (await own.list()).body.items;
      expect(again.map(({ nextWakeAt }) => nextWakeAt)).toEqual([null, nextYear]);
      const fired = marks
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[1]);
      expect(fired).toHaveLength(2);
      expect(new Set(fired)).toEqual(new Set(['follows', 'once']));
    });

    it('is polled from the program after a wake, and a list that is not valid leaves it alone', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const own = new AgentSchedules(api, id);
      const write = (content: string) => own.executions.run(`printf %s '${content}' > schedules`);
      const again = async (): Promise<void> => {
        await own.sleep();
        await api.post(`/api/agents/${id}/start`);
      };
      await write(JSON.stringify([{ id: 'daily', cron: '@daily' }]));
      await again();
      await eventually(
        async () => expect(await own.only()).toMatchObject({ id: 'daily', source: 'polled' }),
        FIRED,
      );
      await own.publish({ id: 'pushed', cron: '@weekly' });
      await write(JSON.stringify([{ id: 'broken', cron: '@never' }]));
      await again();
      await eventually(async () => {
        const { body } = await api.get<{ logs: { message: string; level: string }[] }>(
          `/api/agents/${id}/logs?source=system`,
        );
        expect(body.logs).toContainEqual(
          expect.objectContaining({
            level: 'warn',
            message: expect.stringContaining('entries[0].cron') as string,
          }),
        );
      }, FIRED);
      expect(await own.only()).toMatchObject({ id: 'pushed', source: 'pushed' });
    });

    it('that fires while its agent is stopped is refused with an error, and not repeated', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const own = new AgentSchedules(api, id);
      await own.publish({ id: 'lost', nextRunAt: fromNow(SOON_MS), prompt: 'mark lost' });
      await api.post(`/api/agents/${id}/stop`);
      await eventually(
        async () =>
          expect(await own.only()).toMatchObject({
            nextWakeAt: null,
            lastRunAt: null,
            lastError: { code: 'agent_stopped' },
          }),
        FIRED,
      );
      await eventually(
        async () => expect(await own.agent()).toMatchObject({ state: 'stopped', nextWakeAt: null }),
        FIRED,
      );
      await api.post(`/api/agents/${id}/start`);
      expect((await own.executions.run('cat marks')).body.exitCode).toBe(1);
    });

    it('of the template reminder comes from a chat, and the agent remembers what it was woken for', async () => {
      const { id } = await api.runningAgent({ templateId: 'reminder' });
      const own = new AgentSchedules(api, id);
      await api.chat(id, 'Every weekday at 9 plan the day');
      await api.chat(id, 'Remind me in 20 seconds to stretch');
      const { items } = (await own.list()).body;
      expect(items).toMatchObject([
        { cron: '0 9 * * 1-5', tz: 'UTC' },
        { cron: null, prompt: 'stretch' },
      ]);
      await own.sleep();
      await eventually(async () => expect((await own.list()).body.items[1]?.nextWakeAt).toBeNull(), FIRED);
      await api.inState(id, 'running');
      await eventually(
        async () => expect((await api.chat(id, 'history')).body.response).toMatch(/Z stretch$/),
        FIRED,
      );
    });
  });
};
