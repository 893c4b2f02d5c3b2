import { agentsRequests } from '@berth/contracts/agents';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedSchedules } from './fixtures/served-schedules.fixture.js';

const FIRED = { timeoutMs: 60_000, intervalMs: 100 };
const PAST = '2026-01-01T00:00:00.000Z';

let served: ServedSchedules;

beforeAll(async () => {
  served = await ServedSchedules.start(2);
});
afterAll(() => served.stop());

describe('an entry', () => {
  it('whose time is over fires at first sight, once ever, in however many processes', async () => {
    const agentId = newId('agt');
    await served.push(agentId, { id: 'tea', nextRunAt: PAST, prompt: 'Tea.' });
    await eventually(async () => expect((await served.list(agentId))[0]?.nextWakeAt).toBeNull(), FIRED);
    await eventually(() => expect(served.fakes.handedOver(agentId)).toHaveLength(1), FIRED);
    expect(served.fakes.handedOver(agentId)[0]).toMatchObject({
      ...{ message: 'Tea.', conversationId: 'schedule-tea', source: 'schedule', repeated: false },
    });
    await served.push(agentId);
    await served.push(agentId, { id: 'tea', nextRunAt: '2026-01-01T01:00:00+01:00', prompt: 'Tea.' });
    expect((await served.list(agentId))[0]).toMatchObject({ nextRunAt: PAST, nextWakeAt: null });
  });

  it('without a prompt wakes its agent only', async () => {
    const agentId = newId('agt');
    await served.push(agentId, { id: 'up', nextRunAt: PAST });
    await eventually(
      () => expect(served.fakes.requestsOf(agentsRequests.ensureAwake, agentId)).toHaveLength(1),
      FIRED,
    );
    expect(served.fakes.requestsOf(agentsRequests.ensureAwake, agentId)[0]).toMatchObject({
      kind: 'schedule',
    });
    expect(served.fakes.handedOver(agentId)).toEqual([]);
  });
});
