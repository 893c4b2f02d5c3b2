import { handOverRequests } from '@berth/contracts/delivery';
import { EventStreams } from '@berth/event-store';
import { DomainError, isoTime, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliveryIdOf } from './fire/delivery-id.js';
import { ACCOUNT } from './fixtures/fake-services.fixture.js';
import { ServedSchedules } from './fixtures/served-schedules.fixture.js';
import { scheduleDecider, type ScheduleCommand } from './schedule/schedule.decider.js';
import { scheduleCodec } from './schedule/schedule.events.js';

const FIRED = { timeoutMs: 60_000, intervalMs: 50 };
const HOUR_MS = 3_600_000;

let served: ServedSchedules;
let agentId: string;

beforeEach(async () => {
  served = await ServedSchedules.start(0);
  agentId = newId('agt');
});
afterEach(() => served.stop());

/** Executes commands on the log as a process does that dies right after them. */
const before = async (...commands: readonly ScheduleCommand[]): Promise<void> => {
  const { store } = served;
  const streams = new EventStreams({ store, decider: scheduleDecider, codec: scheduleCodec });
  for (const command of commands)
    await streams.handle(agentId, command, {
      commandId: newId('cmd'),
      accountId: ACCOUNT,
      actor: { kind: 'agent', id: agentId },
    });
};

const publish = (members: object, now: number): ScheduleCommand => ({
  type: 'Publish',
  agentId,
  accountId: ACCOUNT,
  source: 'pushed',
  digest: 'd',
  entries: [{ ...{ id: 'tea', cron: null, tz: null, nextRunAt: null }, prompt: PROMPT, ...members }],
  firedBefore: [],
  now,
});
const PROMPT = { endUserId: null, data: 'Tea.' } as const;

const fire = (dueAt: number): ScheduleCommand => {
  const entry = { agentId, entryId: 'tea', dueAt };
  return { type: 'Fire', agentId, due: [{ ...entry, deliveryId: deliveryIdOf(entry) }], now: dueAt };
};

const typesOf = async (): Promise<readonly string[]> =>
  (await served.history(agentId)).map(({ type }) => type);
const isOver = (): Promise<void> =>
  eventually(async () => expect((await typesOf()).at(-1)).toBe('FiringEnded'), FIRED);

describe('a process that dies', () => {
  it('between the logged firing and the hand-over leaves it to the next one, which hands over once', async () => {
    const dueAt = Date.now() - HOUR_MS;
    await before(publish({ nextRunAt: isoTime(dueAt) }, dueAt), fire(dueAt));
    await served.startAnother();
    await served.startAnother();
    await isOver();
    const deliveryId = deliveryIdOf({ agentId, entryId: 'tea', dueAt });
    expect(served.fakes.handedOver(agentId)).toMatchObject([{ deliveryId, message: 'Tea.', repeated: true }]);
    expect(await typesOf()).toEqual([
      ...['SchedulesPublished', 'ScheduleFired', 'PromptHandedOver', 'FiringEnded'],
    ]);
  });

  it('during the hand-over leaves it to the next one, which asks how it ended', async () => {
    const dueAt = Date.now() - HOUR_MS;
    await before(publish({ nextRunAt: isoTime(dueAt) }, dueAt));
    const asked = Promise.withResolvers<void>();
    served.fakes.on(handOverRequests.handOver, ({ repeated }) => {
      if (repeated === true) return { outcome: 'handed_over' };
      asked.resolve();
      return new Promise(() => undefined);
    });
    await served.startAnother();
    await asked.promise;
    await served.stopAll();
    await served.startAnother();
    await isOver();
    expect(served.fakes.handedOver(agentId).map(({ repeated }) => repeated)).toEqual([false, true]);
    expect((await typesOf()).filter((type) => type === 'ScheduleFired')).toHaveLength(1);
  });
});

describe('times that pass while nothing runs', () => {
  it('fire once on return', async () => {
    await before(publish({ cron: '0 * * * *' }, Date.now() - 50 * HOUR_MS));
    await served.startAnother();
    await isOver();
    expect(served.fakes.handedOver(agentId)).toHaveLength(1);
    const [entry] = await served.list(agentId);
    expect(Date.parse(entry?.nextWakeAt ?? '')).toBeGreaterThan(Date.now());
  });
});

describe.each(['broker', 'log', 'tables'] as const)('an outage of the %s', (part) => {
  it('delays what is due meanwhile, and loses and repeats nothing', async () => {
    await served.startAnother();
    const dueAt = Date.now() + 1_000;
    await served.push(agentId, { id: 'tea', nextRunAt: isoTime(dueAt), prompt: 'Tea.' });
    served.lines[part].cut();
    await eventually(() => Date.now() > dueAt + 2_000, FIRED);
    served.lines[part].restore();
    await isOver();
    const delivered = new Set(served.fakes.handedOver(agentId).map(({ deliveryId }) => deliveryId));
    expect([...delivered]).toHaveLength(1);
    expect(await typesOf()).toEqual([
      ...['SchedulesPublished', 'ScheduleFired', 'PromptHandedOver', 'FiringEnded'],
    ]);
  }, 120_000);
});

describe('an agent that is deploying when an entry fires', () => {
  it('is woken once it is deployed', async () => {
    let isDeploying = true;
    served.fakes.on(handOverRequests.handOver, () => {
      if (isDeploying) throw new DomainError('conflict', 'agent_deploying', 'Not yet.');
      return { outcome: 'handed_over' };
    });
    const dueAt = Date.now() - HOUR_MS;
    await before(publish({ nextRunAt: isoTime(dueAt) }, dueAt));
    await served.startAnother();
    await eventually(() => expect(served.fakes.handedOver(agentId).length).toBeGreaterThan(1), FIRED);
    isDeploying = false;
    await isOver();
    expect((await served.list(agentId))[0]).toMatchObject({ lastError: null });
  });
});
