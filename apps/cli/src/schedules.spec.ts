import { newId } from '@berth/kernel';
import { expect, it } from 'vitest';
import { berth } from './recording-service.fixture.js';

const entry = {
  ...{ id: 'tea', cron: '0 9 * * 1-5', tz: 'Europe/Berlin', nextRunAt: null, prompt: 'Make tea.' },
  ...{ source: 'pushed', nextWakeAt: '2026-11-23T08:00:00.000Z', lastRunAt: null },
  lastError: { code: 'agent_stopped', message: 'Stopped.', at: '2026-11-20T08:00:00.000Z' },
};

it('berth schedules prints one line for each entry of an agent, by its id or name', async () => {
  const agentId = newId('agt');
  const respond = ({ url = '' }) =>
    url.startsWith('/api/agents?')
      ? { status: 200, body: { items: [{ id: agentId }], nextCursor: null } }
      : { status: 200, body: { items: [entry] } };
  const { exitCode, out, seen } = await berth(['schedules', 'scout'], { respond });
  expect(exitCode).toBe(0);
  expect(seen.at(-1)).toMatchObject({ method: 'GET', url: `/api/agents/${agentId}/schedules` });
  expect(out).toMatch(
    /^tea +0 9 \* \* 1-5 Europe\/Berlin +2026-11-23T08:00:00.000Z +- +agent_stopped +pushed$/m,
  );
  const json = await berth(['schedules', agentId, '--json'], { respond });
  expect(JSON.parse(json.out)).toEqual([entry]);
});
