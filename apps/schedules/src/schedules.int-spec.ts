import { randomBytes } from 'node:crypto';
import { agentsRequests, nextWakeRequests } from '@berth/contracts/agents';
import { handOverRequests } from '@berth/contracts/delivery';
import { endUsersRequests } from '@berth/contracts/end-users';
import { DomainError, isoTime, newId, type ErrorKind } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT } from './fixtures/fake-services.fixture.js';
import { ServedSchedules } from './fixtures/served-schedules.fixture.js';

const FIRED = { timeoutMs: 60_000, intervalMs: 50 };
const PAST = '2026-01-01T00:00:00.000Z';

let served: ServedSchedules;
let agentId: string;

beforeAll(async () => {
  served = await ServedSchedules.start(3);
});
afterAll(() => served.stop());
beforeEach(() => {
  served.fakes.reset();
  agentId = newId('agt');
});

const typesOf = async (): Promise<readonly string[]> =>
  (await served.history(agentId)).map(({ type }) => type);
const ended = (count = 1): Promise<void> =>
  eventually(async () => {
    expect((await typesOf()).filter((type) => type === 'FiringEnded')).toHaveLength(count);
  }, FIRED);
const failing = (kind: ErrorKind, code: string) => (): never => {
  throw new DomainError(kind, code, 'No.');
};
const only = async () => {
  const [entry] = await served.list(agentId);
  return entry;
};

describe('in three processes, an entry', () => {
  it('whose time has passed fires at once, and only once', async () => {
    await served.push(agentId, { id: 'tea', nextRunAt: PAST, prompt: 'Tea.' });
    await ended();
    expect(served.fakes.handedOver(agentId)).toMatchObject([
      { message: 'Tea.', conversationId: 'schedule-tea', source: 'schedule', repeated: false },
    ]);
    await served.push(agentId);
    await served.push(agentId, { id: 'tea', nextRunAt: '2026-01-01T01:00:00+01:00', prompt: 'Tea.' });
    expect(await only()).toMatchObject({ nextRunAt: PAST, nextWakeAt: null });
  });

  it('of a hundred that are due at once fires once each', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `entry ${String(index)}`);
    await served.push(agentId, ...ids.map((id) => ({ id, nextRunAt: PAST, prompt: id })));
    await ended(100);
    expect(
      served.fakes
        .handedOver(agentId)
        .map(({ message }) => message)
        .sort(),
    ).toEqual([...ids].sort());
    expect(new Set(served.fakes.handedOver(agentId).map(({ deliveryId }) => deliveryId)).size).toBe(100);
  });

  it('without a prompt wakes its agent only', async () => {
    await served.push(agentId, { id: 'up', nextRunAt: PAST });
    await ended();
    expect(served.fakes.requestsAbout(agentId, agentsRequests.ensureAwake)).toMatchObject([
      { kind: 'schedule' },
    ]);
    expect(served.fakes.handedOver(agentId)).toEqual([]);
  });

  it('does not fire before its time, and agents knows the next wake at once', async () => {
    const nextRunAt = isoTime(Date.now() + 3_600_000);
    await served.push(agentId, { id: 'later', nextRunAt }, { id: 'daily', cron: '@yearly' });
    expect(served.fakes.requestsAbout(agentId, nextWakeRequests.note).at(-1)).toMatchObject({
      nextWakeAt: [nextRunAt, (await served.list(agentId))[1]?.nextWakeAt ?? ''].sort()[0],
    });
    expect(await typesOf()).toEqual(['SchedulesPublished']);
  });
});

describe('a firing', () => {
  it.each<[string, ErrorKind]>([
    ['agent_stopped', 'conflict'],
    ['agent_failed', 'conflict'],
    ['end_user_suspended', 'forbidden'],
    ['account_suspended', 'forbidden'],
    ['compute_cap_reached', 'payment_required'],
    ['wake_limit_reached', 'exhausted'],
    ['rate_limited', 'exhausted'],
  ])('that is refused with %s is the last error, and is not repeated', async (code, kind) => {
    served.fakes.on(handOverRequests.handOver, failing(kind, code));
    await served.push(agentId, { id: 'tea', nextRunAt: PAST, prompt: 'Tea.' });
    await ended();
    expect(await only()).toMatchObject({ lastError: { code }, lastRunAt: null, nextWakeAt: null });
    expect(served.fakes.handedOver(agentId)).toHaveLength(1);
  });

  it('is repeated under the same delivery id while the agent cannot be reached', async () => {
    let attempts = 0;
    served.fakes.on(handOverRequests.handOver, () => {
      if (attempts++ < 2) throw new DomainError('unavailable', 'agent_unavailable', 'Not now.');
      return { outcome: 'handed_over' };
    });
    await served.push(agentId, { id: 'tea', nextRunAt: PAST, prompt: 'Tea.' });
    await ended();
    const sent = served.fakes.handedOver(agentId);
    expect(sent.map(({ repeated }) => repeated)).toEqual([false, true, true]);
    expect(new Set(sent.map(({ deliveryId }) => deliveryId)).size).toBe(1);
    expect(await only()).toMatchObject({ lastError: null, lastRunAt: expect.any(String) as string });
  });

  it('that the program answers with an error has run, and the log does not have the words of the program', async () => {
    served.fakes.on(handOverRequests.handOver, () => ({
      outcome: 'failed' as const,
      code: 'agent_error',
      message: 'Ada is out.',
    }));
    await served.push(agentId, { id: 'tea', nextRunAt: PAST, prompt: 'Tea.' });
    await ended();
    expect(await only()).toMatchObject({
      lastError: { code: 'agent_error' },
      lastRunAt: expect.any(String) as string,
    });
    expect(JSON.stringify((await served.history(agentId)).map(({ data }) => data))).not.toContain('Ada');
  });

  it.each(['chat_unsupported', 'payload_too_large'])(
    'that the program does not get (%s) has not run',
    async (code) => {
      served.fakes.on(handOverRequests.handOver, () => ({ outcome: 'failed' as const, code, message: '' }));
      await served.push(agentId, { id: 'tea', nextRunAt: PAST, prompt: 'Tea.' });
      await ended();
      expect(await only()).toMatchObject({ lastError: { code }, lastRunAt: null });
      const types = (await served.history(agentId)).map(({ type }) => type);
      expect(types).not.toContain('PromptHandedOver');
    },
  );
});

describe('a list', () => {
  it('is stored when it is polled, and rejected with the reason if it is not valid', async () => {
    expect(await served.poll(agentId, [{ id: 'a', cron: '@daily' }])).toBeNull();
    expect(await only()).toMatchObject({ id: 'a', source: 'polled' });
    expect(await served.poll(agentId, [{ id: 'a', cron: '@never' }])).toContain('entries[0].cron');
    expect(await served.poll(agentId, { entries: [] })).toContain('entries');
    expect(await only()).toMatchObject({ id: 'a', source: 'polled' });
  });

  it('that is polled again, also after a restart, replaces nothing', async () => {
    await served.poll(agentId, [{ id: 'a', cron: '@daily' }]);
    await served.push(agentId, { id: 'b', cron: '@daily' });
    await served.poll(agentId, [{ cron: '@daily', id: 'a', unknown: 1 }]);
    expect(await only()).toMatchObject({ id: 'b', source: 'pushed' });
  });

  it('of an agent of another account is not found', async () => {
    served.fakes.on(nextWakeRequests.ownerOf, () => ({ accountId: 'acc_other', endUserId: null }));
    await expect(served.push(agentId)).rejects.toMatchObject({ code: 'agent_not_found' });
    await expect(served.list(agentId)).rejects.toMatchObject({ code: 'agent_not_found' });
  });

  it('has its prompts sealed in the log if the agent belongs to an end user, and hands them over in plaintext', async () => {
    const endUserId = newId('eus');
    served.fakes.on(nextWakeRequests.ownerOf, () => ({ accountId: ACCOUNT, endUserId }));
    const key = randomBytes(32).toString('base64');
    served.fakes.on(endUsersRequests.personalKey, () => ({ key }));
    await served.push(agentId, { id: 'tea', nextRunAt: PAST, prompt: 'Tell Ada Lovelace.' });
    await ended();
    expect(served.fakes.handedOver(agentId)).toMatchObject([{ message: 'Tell Ada Lovelace.' }]);
    expect(await only()).toMatchObject({ prompt: 'Tell Ada Lovelace.' });
    expect(JSON.stringify((await served.history(agentId)).map(({ data }) => data))).not.toContain('Lovelace');
  });
});
