import { decideGiven, type Decided } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import type { ComputerCommand } from './computer.commands.js';
import { computerDecider } from './computer.decider.js';
import type { ComputerEvent, Profile, SleepReason } from './computer.js';

const at = '2026-11-28T10:00:00.000Z';
const seconds = (count: number): string => new Date(Date.parse(at) + count * 1_000).toISOString();
const computerId = 'cmp_1';
const profile: Profile = {
  accountId: 'acc_1',
  personal: { endUserId: null, data: { name: null, externalUserId: null } },
  display: { width: 1_280, height: 800 },
  resources: { memMb: 2_048, vcpus: 2, diskGb: 10 },
  idleTtlSeconds: 900,
};

const created: ComputerEvent = { type: 'ComputerCreated', data: { computerId, ...profile, at } };
const starting = (epoch: number, cause: 'create' | 'wake' = 'wake', thaw = false): ComputerEvent => ({
  type: 'ComputerStarting',
  data: {
    ...{ computerId, epoch, host: 'host1', cause, thaw, at },
    deadline: seconds(cause === 'create' ? 900 : 60),
  },
});
const started = (epoch: number): ComputerEvent => ({
  type: 'ComputerStarted',
  data: { computerId, epoch, at },
});
const asleep = (epoch: number, depth: 'warm' | 'cold', reason: SleepReason = 'requested'): ComputerEvent => ({
  type: 'ComputerFellAsleep',
  data: { computerId, epoch, depth, reason, at },
});
const stopping = (epoch: number, reason: 'requested' | 'suspended' = 'requested'): ComputerEvent => ({
  type: 'ComputerStopping',
  data: { computerId, epoch, reason, deadline: seconds(30), at },
});
const failed = (epoch: number, code = 'desktop_failed', message = 'It broke.'): ComputerEvent => ({
  type: 'ComputerFailed',
  data: { computerId, epoch, code, message, at },
});
const lost = (epoch: number): ComputerEvent =>
  failed(epoch, 'host_lost', 'The machine that runs the computer does not respond.');
const unseen = (epoch: number, since: string): ComputerEvent => ({
  type: 'ComputerUnseen',
  data: { computerId, epoch, since, at },
});

const NEW = [created, starting(1, 'create')];
const RUNNING = [...NEW, started(1)];
const WARM = [...RUNNING, asleep(1, 'warm')];
const COLD = [...RUNNING, stopping(2), asleep(2, 'cold')];
const LOST = [...RUNNING, unseen(1, seconds(-30)), lost(1)];
const alwaysOn: ComputerEvent = {
  type: 'ComputerCreated',
  data: { computerId, ...profile, idleTtlSeconds: 0, at },
};

const given = (history: readonly ComputerEvent[], command: ComputerCommand): Decided<ComputerEvent> =>
  decideGiven(computerDecider, history, command);
const eventsOf = (history: readonly ComputerEvent[], command: ComputerCommand): readonly ComputerEvent[] => {
  const { events, refusal } = given(history, command);
  expect(refusal).toBeUndefined();
  return events;
};
const wake = { type: 'Wake', refusedEpoch: null, retry: false, at } as const;
const tryAgain = { ...wake, retry: true } as const;

describe('a new computer', () => {
  it('is created with its first start, which has 15 minutes', () => {
    const command = { type: 'Create', computerId, profile, host: 'host1', at } as const;
    expect(eventsOf([], command)).toEqual(NEW);
    expect(eventsOf(RUNNING, command)).toEqual([]);
    const gone = [...RUNNING, { type: 'ComputerDeletionRequested', data: { computerId, at } } as const];
    expect(given(gone, command).refusal).toMatchObject({ code: 'computer_not_found' });
  });

  it('runs once its host has started it, and only at the epoch of the start', () => {
    expect(eventsOf(NEW, { type: 'ConfirmStarted', epoch: 1, at })).toEqual([started(1)]);
    expect(eventsOf(NEW, { type: 'ConfirmStarted', epoch: 2, at })).toEqual([]);
    expect(eventsOf(RUNNING, { type: 'ConfirmStarted', epoch: 1, at })).toEqual([]);
  });

  it('is started until its deadline while its host can start none, and fails when the host is full', () => {
    const command = { type: 'BreakOffStart', epoch: 1, at } as const;
    expect(eventsOf(NEW, { ...command, failure: null })).toEqual([]);
    const failure = { code: 'no_capacity', message: 'Full.' };
    expect(eventsOf(NEW, { ...command, failure })).toEqual([failed(1, 'no_capacity', 'Full.')]);
  });
});

describe('a wake', () => {
  it('thaws a computer that sleeps warm, and starts any other one', () => {
    expect(eventsOf(WARM, wake)).toEqual([starting(2, 'wake', true)]);
    expect(eventsOf(COLD, wake)).toEqual([starting(3)]);
    expect(eventsOf([...RUNNING, stopping(2)], wake)).toEqual([starting(3)]);
  });

  it('does nothing for a computer that runs or is coming up', () => {
    expect(eventsOf(RUNNING, wake)).toEqual([]);
    expect(eventsOf(NEW, wake)).toEqual([]);
  });

  it('thaws a computer whose host has just refused its epoch', () => {
    expect(eventsOf(RUNNING, { ...wake, refusedEpoch: 1 })).toEqual([starting(2, 'wake', true)]);
    expect(eventsOf(RUNNING, { ...wake, refusedEpoch: 0 })).toEqual([]);
  });

  it('of a computer that has failed is refused, unless it is to try again', () => {
    const history = [...RUNNING, failed(1)];
    expect(given(history, wake).refusal).toMatchObject({ kind: 'conflict', code: 'computer_failed' });
    expect(eventsOf(history, tryAgain)).toEqual([starting(2)]);
  });

  it('of a computer whose host is lost or removed starts nothing', () => {
    expect(given(LOST, wake).refusal).toMatchObject({ code: 'computer_failed' });
    expect(given(LOST, tryAgain).refusal).toMatchObject({ code: 'computer_unavailable' });
    const removed = [...RUNNING, failed(1, 'host_removed')];
    expect(given(removed, tryAgain).refusal).toMatchObject({ code: 'computer_failed' });
  });

  it('that its host cannot carry out leaves the computer asleep', () => {
    const history = [...COLD, starting(3)];
    const command = { type: 'BreakOffStart', epoch: 3, failure: null, at } as const;
    expect(eventsOf(history, command)).toEqual([asleep(3, 'cold', 'host_unavailable')]);
  });
});

describe('a sleep', () => {
  it('asks the host of a running computer to freeze it, at the epoch of the decision', () => {
    const requested = {
      type: 'ComputerSleepRequested',
      data: { computerId, epoch: 1, host: 'host1', at },
    } as const;
    expect(eventsOf(RUNNING, { type: 'Sleep', warm: true, at })).toEqual([requested]);
    expect(
      eventsOf(RUNNING, { type: 'FallAsleep', epoch: 1, depth: 'warm', reason: 'requested', at }),
    ).toEqual([asleep(1, 'warm')]);
  });

  it('stops a computer that is coming up, or that may not sleep warm', () => {
    expect(eventsOf(NEW, { type: 'Sleep', warm: true, at })).toEqual([stopping(2)]);
    expect(eventsOf(RUNNING, { type: 'Sleep', warm: false, at })).toEqual([stopping(2)]);
    expect(eventsOf([...RUNNING, stopping(2)], { type: 'ConfirmStopped', epoch: 2, at })).toEqual([
      asleep(2, 'cold'),
    ]);
  });

  it.each([
    ['sleeps', WARM],
    ['has failed', [...RUNNING, failed(1)]],
    ['is falling asleep', [...RUNNING, stopping(2)]],
  ])('changes nothing of a computer that %s', (_, history) => {
    expect(eventsOf(history, { type: 'Sleep', warm: true, at })).toEqual([]);
  });

  it('becomes deeper, and then has the reason that it has cooled', () => {
    const command = { type: 'FallAsleep', epoch: 1, depth: 'cold', reason: 'host_shutdown', at } as const;
    expect(eventsOf(WARM, command)).toEqual([asleep(1, 'cold', 'cooled')]);
    expect(eventsOf(COLD, { ...command, epoch: 2 })).toEqual([]);
    expect(eventsOf(RUNNING, command)).toEqual([asleep(1, 'cold', 'host_shutdown')]);
  });
});

describe('a suspension', () => {
  it('stops a computer that runs or comes up at this epoch', () => {
    const command = { type: 'Stop', reason: 'suspended', epoch: 1, at } as const;
    expect(eventsOf(RUNNING, command)).toEqual([stopping(2, 'suspended')]);
    expect(eventsOf(NEW, command)).toEqual([stopping(2, 'suspended')]);
    expect(eventsOf([...COLD, starting(3)], command)).toEqual([]);
  });
});

describe('a transition', () => {
  it.each([
    ['start', NEW, 1],
    ['stop', [...RUNNING, stopping(2)], 2],
  ])('that its host cannot carry out fails the computer: a %s', (_, history, epoch) => {
    const command = {
      type: 'FailTransition',
      epoch,
      code: 'desktop_failed',
      message: 'It broke.',
      at,
    } as const;
    expect(eventsOf(history, command)).toEqual([failed(epoch)]);
    expect(eventsOf(history, { ...command, epoch: epoch - 1 })).toEqual([]);
    expect(eventsOf(RUNNING, { ...command, epoch: 1 })).toEqual([]);
  });

  it('is over with a desktop that ends again and again', () => {
    const command = { type: 'ReportCrashLoop', epoch: 1, message: 'It broke.', at } as const;
    expect(eventsOf(RUNNING, command)).toEqual([failed(1)]);
    expect(eventsOf(NEW, command)).toEqual([failed(1)]);
    expect(eventsOf(WARM, command)).toEqual([]);
  });
});

describe('a lost host', () => {
  it('fails its computers, of which one that ran is known to have run until the last report', () => {
    const command = { type: 'LoseHost', seenAt: seconds(10), at: seconds(40) } as const;
    expect(eventsOf(RUNNING, command)).toMatchObject([
      { type: 'ComputerUnseen', data: { epoch: 1, since: seconds(10) } },
      { type: 'ComputerFailed', data: { code: 'host_lost' } },
    ]);
    expect(eventsOf(WARM, command)).toMatchObject([{ type: 'ComputerFailed', data: { code: 'host_lost' } }]);
    expect(eventsOf(LOST, command)).toEqual([]);
  });

  it('that was seen last before the computer started leaves it its start', () => {
    const command = { type: 'LoseHost', seenAt: seconds(-10), at: seconds(40) } as const;
    expect(eventsOf(RUNNING, command)[0]).toMatchObject({ type: 'ComputerUnseen', data: { since: at } });
  });

  it('that returns with the computer running has run it all the time', () => {
    expect(eventsOf(LOST, { type: 'SettlePresence', epoch: 1, frozen: false, at })).toEqual([
      { type: 'ComputerRanUnseen', data: { computerId, epoch: 1, since: seconds(-30), at } },
      started(1),
    ]);
  });

  it('that returns without its processes leaves it asleep, or starts it again if it never sleeps', () => {
    const command = { type: 'SettleAbsence', epoch: 1, at } as const;
    expect(eventsOf(LOST, command)).toEqual([asleep(1, 'cold', 'host_restarted')]);
    expect(eventsOf([alwaysOn, ...LOST.slice(1)], command)).toEqual([starting(2)]);
  });

  it.each<[string, readonly ComputerEvent[], ComputerEvent]>([
    ['asleep cold', [...COLD, lost(2)], asleep(2, 'cold')],
    ['asleep warm', [...WARM, lost(1)], asleep(1, 'cold', 'host_restarted')],
    ['stopping', [...RUNNING, stopping(2), lost(2)], asleep(2, 'cold')],
    ['waking', [...COLD, starting(3), lost(3)], asleep(3, 'cold', 'host_restarted')],
    ['new', [...NEW, lost(1)], starting(2, 'create')],
  ])('that returns without a computer that was %s settles it', (_, history, expected) => {
    const epoch = expected.type === 'ComputerStarting' ? 1 : (expected.data as { epoch: number }).epoch;
    expect(eventsOf(history, { type: 'SettleAbsence', epoch, at })).toEqual([expected]);
  });

  it('that returns in the middle of a start goes on with it at the same epoch', () => {
    const history = [...COLD, starting(3), lost(3)];
    expect(eventsOf(history, { type: 'SettlePresence', epoch: 3, frozen: false, at })).toEqual([starting(3)]);
  });

  it('that did not get to know of the latest start or stop gets it again', () => {
    const waking = [...WARM, starting(2, 'wake', true), lost(2)];
    const present = { type: 'SettlePresence', epoch: 1, at } as const;
    expect(eventsOf(waking, { ...present, frozen: true })).toEqual([asleep(2, 'warm', 'idle')]);
    expect(eventsOf(waking, { ...present, frozen: false })).toEqual([starting(3, 'wake', true)]);
    const stopped = [...RUNNING, stopping(2), lost(2)];
    expect(eventsOf(stopped, { ...present, frozen: false })).toEqual([stopping(3)]);
  });

  it('that an operator removes takes the computer with it, once', () => {
    const command = { type: 'RemoveHost', at } as const;
    expect(eventsOf(LOST, command)).toMatchObject([
      { type: 'ComputerFailed', data: { code: 'host_removed' } },
    ]);
    expect(eventsOf([...LOST, failed(1, 'host_removed')], command)).toEqual([]);
  });
});

describe('a host', () => {
  it('that has restarted has no processes: its computers are cold asleep, and those that never sleep start', () => {
    const command = { type: 'SettleAbsence', epoch: 1, seenAt: seconds(10), at: seconds(20) } as const;
    expect(eventsOf(RUNNING, command)).toMatchObject([
      { type: 'ComputerUnseen', data: { since: seconds(10) } },
      { type: 'ComputerFellAsleep', data: { depth: 'cold', reason: 'host_restarted' } },
    ]);
    expect(eventsOf(WARM, command)).toMatchObject([{ type: 'ComputerFellAsleep', data: { depth: 'cold' } }]);
    const shutDown = [alwaysOn, ...RUNNING.slice(1), asleep(1, 'cold', 'host_shutdown')];
    expect(eventsOf(shutDown, { type: 'SettleAbsence', epoch: 1, at })).toEqual([starting(2)]);
    expect(eventsOf(COLD, { ...command, epoch: 2 })).toEqual([]);
  });

  it('that has frozen a computer has put it to sleep, also if only its announcement says so', () => {
    const command = { type: 'SettlePresence', epoch: 1, at } as const;
    expect(eventsOf(RUNNING, { ...command, frozen: true })).toEqual([asleep(1, 'warm', 'idle')]);
    expect(eventsOf(RUNNING, { ...command, frozen: false })).toEqual([]);
    expect(eventsOf(WARM, { ...command, frozen: false })).toEqual([]);
  });
});

describe('a deletion', () => {
  const deleting = [...RUNNING, { type: 'ComputerDeletionRequested', data: { computerId, at } } as const];

  it('is decided at once, and done once the host has removed the computer', () => {
    expect(eventsOf(RUNNING, { type: 'RequestDeletion', at })).toEqual([deleting.at(-1)]);
    expect(eventsOf(deleting, { type: 'ConfirmDeleted', at })).toEqual([
      { type: 'ComputerDeleted', data: { computerId, at } },
    ]);
    expect(eventsOf(RUNNING, { type: 'ConfirmDeleted', at })).toEqual([]);
  });

  it('leaves nothing that could be woken, put to sleep or deleted again', () => {
    for (const command of [wake, { type: 'Sleep', warm: true, at }, { type: 'RequestDeletion', at }] as const)
      expect(given(deleting, command).refusal).toMatchObject({
        kind: 'not_found',
        code: 'computer_not_found',
      });
  });
});
