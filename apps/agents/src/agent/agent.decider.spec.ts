import { decideGiven, isDomainError, type Decided } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import type { AgentCommand } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import { CreationOvertaken } from './creation-overtaken.js';
import { MAX_RECOVERIES } from './decide-observed.js';
import type { AgentEvent, Profile, SleepReason } from './agent.js';

const agentId = 'agt_01';
const at = '2026-11-21T10:00:00.000Z';
const guest = { version: '1.0.0', capabilities: ['exec.detached'] };
const profile: Profile = {
  accountId: 'acc_1',
  templateId: 'echo',
  idleTtlSeconds: 900,
  resources: { memMb: 256, vcpus: 1, diskGb: 1 },
  personal: { endUserId: 'eus_1', sealed: 'p.c2VhbGVk' },
};

const created = (over: Partial<Profile> = {}): AgentEvent => ({
  type: 'AgentCreated.v3',
  data: { agentId, ...profile, ...over, source: { kind: 'template', version: 1, name: 'echo' }, at },
});
type Starting = Extract<AgentEvent, { type: 'AgentStarting.v2' }>['data'];
const starting = (epoch: number, cause: Starting['cause'], thaw = false): AgentEvent => ({
  type: 'AgentStarting.v2',
  data: { agentId, epoch, host: 'hst_1', cause, thaw, version: 1, deadline: at, at },
});
const started = (epoch: number): AgentEvent => ({
  type: 'AgentStarted',
  data: { agentId, epoch, guest, at },
});
const asleep = (epoch: number, depth: 'warm' | 'cold', reason: SleepReason = 'idle'): AgentEvent => ({
  type: 'AgentFellAsleep',
  data: { agentId, epoch, depth, reason, at },
});
const stopping = (epoch: number, target: 'stopped' | 'sleeping'): AgentEvent => ({
  type: 'AgentStopping.v2',
  data: { agentId, epoch, target, reason: 'requested', deadline: at, at },
});
const stopped = (epoch: number): AgentEvent => ({ type: 'AgentStopped', data: { agentId, epoch, at } });
const failed = (epoch: number, code: string): AgentEvent => ({
  type: 'AgentFailed',
  data: { agentId, epoch, code, message: 'It broke.', at },
});

const running = [created(), starting(1, 'deploy'), started(1)];
const given = (history: readonly AgentEvent[], command: AgentCommand): Decided<AgentEvent> =>
  decideGiven(agentDecider, history, command);
const types = (decided: Decided<AgentEvent>): string[] => {
  expect(decided.refusal).toBeUndefined();
  return decided.events.map((event) => event.type);
};
const refusal = (decided: Decided<AgentEvent>): string => {
  if (!isDomainError(decided.refusal)) throw new Error('It was not refused.');
  return decided.refusal.code;
};
const wake = (refusedEpoch: number | null = null): AgentCommand => ({ type: 'Wake', refusedEpoch, at });

describe('creating', () => {
  const createAs = (attempt: number): AgentCommand => ({
    type: 'Create',
    agentId,
    profile,
    host: 'hst_1',
    attempt,
    at,
  });
  const create = createAs(0);
  const abandonAs = (attempt: number): AgentCommand => ({ type: 'AbandonCreation', agentId, attempt, at });
  const abandoned: AgentEvent = { type: 'AgentCreationAbandoned', data: { agentId, at } };
  const deleted: readonly AgentEvent[] = [
    ...running,
    { type: 'AgentDeletionRequested', data: { agentId, at } },
    { type: 'AgentDeleted', data: { agentId, at } },
  ];

  it('deploys immediately, with the first epoch', () => {
    const decided = given([], create);
    expect(types(decided)).toEqual(['AgentCreated.v3', 'AgentStarting.v2']);
    expect(decided.events[0]).toMatchObject({
      data: { source: { kind: 'template', version: 1, name: 'echo' } },
    });
    expect(decided.events[1]).toMatchObject({
      data: { epoch: 1, cause: 'deploy', deadline: '2026-11-21T10:15:00.000Z' },
    });
  });

  it('has no effect on an existing agent', () => expect(types(given(running, create))).toEqual([]));

  it('fails for an abandoned attempt, and succeeds for the next one', () => {
    expect(given([abandoned], create).refusal).toBeInstanceOf(CreationOvertaken);
    expect(types(given([abandoned], createAs(1)))).toEqual(['AgentCreated.v3', 'AgentStarting.v2']);
    expect(given([abandoned, abandoned], createAs(1)).refusal).toBeInstanceOf(CreationOvertaken);
  });

  it('never recreates a deleted agent', () => {
    expect(refusal(given(deleted, create))).toBe('agent_not_found');
    expect(refusal(given(deleted.slice(0, -1), create))).toBe('agent_not_found');
  });

  it('is abandoned once for each attempt, and never after the agent was created', () => {
    expect(types(given([], abandonAs(0)))).toEqual(['AgentCreationAbandoned']);
    expect(types(given([abandoned], abandonAs(0)))).toEqual([]);
    expect(types(given([abandoned], abandonAs(1)))).toEqual(['AgentCreationAbandoned']);
    expect(types(given([abandoned, created(), starting(1, 'deploy')], abandonAs(1)))).toEqual([]);
    expect(types(given(deleted, abandonAs(0)))).toEqual([]);
  });
});

describe('waking', () => {
  it('thaws from warm sleep and starts from cold sleep, with a new epoch', () => {
    for (const [depth, thaw] of [
      ['warm', true],
      ['cold', false],
    ] as const) {
      const { events } = given([...running, asleep(1, depth)], wake());
      expect(events).toMatchObject([{ type: 'AgentStarting.v2', data: { epoch: 2, cause: 'wake', thaw } }]);
    }
  });

  it('joins a wake or a recovery in progress', () => {
    for (const cause of ['wake', 'recover'] as const)
      expect(types(given([...running, starting(2, cause)], wake()))).toEqual([]);
  });

  it('is refused while the agent deploys, starts or restarts', () => {
    expect(refusal(given([created(), starting(1, 'deploy')], wake()))).toBe('agent_deploying');
    for (const cause of ['start', 'restart'] as const) {
      expect(refusal(given([...running, starting(2, cause)], wake()))).toBe('agent_deploying');
    }
  });

  it('never undoes a stop', () => {
    expect(refusal(given([...running, stopping(2, 'stopped')], wake()))).toBe('agent_stopped');
    expect(refusal(given([...running, stopping(2, 'stopped'), stopped(2)], wake()))).toBe('agent_stopped');
  });

  it('wins against going to sleep', () => {
    expect(given([...running, stopping(2, 'sleeping')], wake()).events).toMatchObject([
      { data: { epoch: 3, cause: 'wake' } },
    ]);
  });

  it('thaws a running agent only if its host refused the current epoch, because it has frozen the agent', () => {
    expect(given(running, wake(1)).events).toMatchObject([
      { type: 'AgentStarting.v2', data: { epoch: 2, thaw: true } },
    ]);
    expect(types(given(running, wake(0)))).toEqual([]);
    expect(types(given(running, wake()))).toEqual([]);
  });

  it('is refused for a failed agent with the reason', () => {
    const decided = given([...running, failed(1, 'agent_crash_loop')], wake());
    expect(refusal(decided)).toBe('agent_failed');
    expect(decided.refusal).toMatchObject({ context: { reason: 'agent_crash_loop' } });
  });
});

describe('a report of a host', () => {
  it('puts a running agent to sleep, and turns warm sleep cold', () => {
    const sleep = (depth: 'warm' | 'cold'): AgentCommand => ({
      type: 'FallAsleep',
      epoch: 1,
      depth,
      reason: 'idle',
      at,
    });
    expect(types(given(running, sleep('warm')))).toEqual(['AgentFellAsleep']);
    expect(types(given([...running, asleep(1, 'warm')], sleep('cold')))).toEqual(['AgentFellAsleep']);
    expect(types(given([...running, asleep(1, 'warm')], sleep('warm')))).toEqual([]);
    expect(types(given([...running, asleep(1, 'cold')], sleep('warm')))).toEqual([]);
  });

  it('has no effect when it belongs to an old epoch', () => {
    const later = [...running, asleep(1, 'warm'), starting(2, 'wake', true), started(2)];
    const reports: AgentCommand[] = [
      { type: 'FallAsleep', epoch: 1, depth: 'warm', reason: 'idle', at },
      { type: 'ReportCrash', epoch: 1, message: 'gone', at },
      { type: 'ReportCrashLoop', epoch: 1, message: 'gone', at },
      { type: 'ConfirmStarted', epoch: 1, guest, at },
      { type: 'FailTransition', epoch: 1, code: 'x', message: 'x', at },
      { type: 'ConfirmStopped', epoch: 1, at },
      { type: 'SettleAbsence', epoch: 1, alwaysOn: false, at },
      { type: 'SettlePresence', epoch: 1, frozen: true, at },
    ];
    for (const report of reports) expect(types(given(later, report)), report.type).toEqual([]);
  });

  it('starts a crashed agent again, unless it has crashed too often recently', () => {
    const crash: AgentCommand = { type: 'ReportCrash', epoch: 1, message: 'exit code 1', at };
    expect(given(running, crash).events).toMatchObject([
      { type: 'AgentStarting.v2', data: { cause: 'recover', epoch: 2 } },
    ]);
    const history: AgentEvent[] = [...running];
    for (let n = 0; n < MAX_RECOVERIES; n++) history.push(starting(2 + n, 'recover'), started(2 + n));
    const again: AgentCommand = { ...crash, epoch: 1 + MAX_RECOVERIES };
    expect(given(history, again).events).toMatchObject([
      { type: 'AgentFailed', data: { code: 'agent_crash_loop', message: 'exit code 1' } },
    ]);
    const muchLater = { ...again, at: '2026-11-21T11:00:00.000Z' };
    expect(types(given(history, muchLater))).toEqual(['AgentStarting.v2']);
  });

  it('turns warm sleep cold when the frozen processes died, and does not start the agent', () => {
    const decided = given([...running, asleep(1, 'warm')], {
      type: 'ReportCrash',
      epoch: 1,
      message: '',
      at,
    });
    expect(decided.events).toMatchObject([{ type: 'AgentFellAsleep', data: { depth: 'cold' } }]);
  });
});

describe('a host that restarted without the agent', () => {
  const settle = (alwaysOn: boolean, when = at): AgentCommand => ({
    ...{ type: 'SettleAbsence', epoch: 1, at: when },
    alwaysOn,
  });
  const muchLater = '2026-11-21T10:02:00.000Z';

  it('puts the agent into cold sleep', () => {
    expect(given(running, settle(false, muchLater)).events).toMatchObject([
      { type: 'AgentFellAsleep', data: { depth: 'cold', reason: 'host_restarted' } },
    ]);
    const ofSleeper = (depth: 'warm' | 'cold') =>
      types(given([...running, asleep(1, depth)], settle(false, muchLater)));
    expect([ofSleeper('warm'), ofSleeper('cold')]).toEqual([['AgentFellAsleep'], []]);
  });

  it('starts the agent again when it had just started, because its caller may still wait for it', () => {
    const soon = settle(false, '2026-11-21T10:01:59.000Z');
    expect(given(running, soon).events).toMatchObject([{ data: { cause: 'recover', epoch: 2 } }]);
    expect(types(given([...running, asleep(1, 'warm')], soon))).toEqual(['AgentFellAsleep']);
  });

  it('starts the agent again when its idle time in force is "always on", whatever its own setting', () => {
    const own = [created({ idleTtlSeconds: 0 }), starting(1, 'deploy'), started(1)];
    const { events } = given(running, settle(true, muchLater));
    expect(events).toMatchObject([{ data: { cause: 'recover', epoch: 2 } }]);
    expect(types(given(own, settle(false, muchLater)))).toEqual(['AgentFellAsleep']);
  });

  it('starts an always-on agent again after an orderly shutdown, but not one that was put to sleep before', () => {
    const shutDown: AgentCommand = {
      type: 'FallAsleep',
      epoch: 1,
      depth: 'cold',
      reason: 'host_shutdown',
      at,
    };
    const ended = [...running, ...given(running, shutDown).events];
    expect(given(ended, settle(true)).events).toMatchObject([{ data: { cause: 'recover' } }]);
    expect(types(given(ended, settle(false)))).toEqual([]);
    const atRest = [...running, asleep(1, 'warm', 'requested')];
    const cooled = given(atRest, shutDown).events;
    expect(cooled).toMatchObject([{ data: { depth: 'cold', reason: 'cooled' } }]);
    expect(types(given([...atRest, ...cooled], settle(true)))).toEqual([]);
  });

  it('recovers an agent whose host was lost when that host reports it again', () => {
    const lost = [...running, failed(1, 'host_lost')];
    expect(types(given(running, { type: 'LoseHost', at }))).toEqual(['AgentFailed']);
    expect(types(given(lost, { type: 'SettlePresence', epoch: 1, frozen: false, at }))).toEqual([
      'AgentStarted',
    ]);
    expect(types(given(lost, { type: 'SettlePresence', epoch: 1, frozen: true, at }))).toEqual([
      'AgentFellAsleep',
    ]);
    expect(types(given(lost, settle(false)))).toEqual(['AgentFellAsleep']);
    expect(
      types(
        given([...running, failed(1, 'agent_crash_loop')], {
          type: 'SettlePresence',
          epoch: 1,
          frozen: false,
          at,
        }),
      ),
    ).toEqual([]);
  });
});

describe('a request of the owner', () => {
  const stop = (target: 'stopped' | 'sleeping'): AgentCommand => ({ type: 'Stop', target, at });

  it('has no effect when the agent is in the requested state', () => {
    expect(types(given(running, { type: 'Start', cause: 'start', at }))).toEqual([]);
    expect(types(given([...running, stopping(2, 'stopped'), stopped(2)], stop('stopped')))).toEqual([]);
    expect(types(given([...running, stopping(2, 'stopped')], stop('stopped')))).toEqual([]);
    expect(types(given([...running, asleep(1, 'cold')], stop('sleeping')))).toEqual([]);
  });

  it('starts a sleeping, stopped or failed agent', () => {
    for (const rest of [
      [asleep(1, 'warm')],
      [stopping(2, 'stopped'), stopped(2)],
      [failed(1, 'start_failed')],
    ]) {
      expect(types(given([...running, ...rest], { type: 'Start', cause: 'start', at }))).toEqual([
        'AgentStarting.v2',
      ]);
    }
  });

  it('wakes a sleeping agent with a start, which a concurrent chat joins', () => {
    for (const depth of ['warm', 'cold'] as const) {
      const history = [...running, asleep(1, depth)];
      const { events } = given(history, { type: 'Start', cause: 'start', at });
      expect(events).toMatchObject([{ data: { cause: 'wake', thaw: depth === 'warm' } }]);
      expect(types(given([...history, ...events], wake()))).toEqual([]);
    }
  });

  it('puts a stopped or failed agent to sleep without its host', () => {
    for (const rest of [[stopping(2, 'stopped'), stopped(2)], [failed(1, 'start_failed')]]) {
      expect(types(given([...running, ...rest], stop('sleeping')))).toEqual(['AgentFellAsleep']);
    }
  });

  it('freezes a running agent at its current epoch if warm sleep is enabled, and otherwise stops the agent', () => {
    const sleep = (warm: boolean): AgentCommand => ({ type: 'Sleep', warm, at });
    const requested = given(running, sleep(true)).events;
    expect(requested).toEqual([
      { type: 'AgentSleepRequested', data: { agentId, epoch: 1, host: expect.any(String) as string, at } },
    ]);
    // The host has not frozen it yet.
    expect(given([...running, ...requested], wake()).events).toEqual([]);
    expect(types(given(running, sleep(false)))).toEqual(['AgentStopping.v2']);
    expect(types(given([created(), starting(1, 'deploy')], sleep(true)))).toEqual(['AgentStopping.v2']);
    expect(types(given([...running, asleep(1, 'warm')], sleep(true)))).toEqual([]);
  });

  it('that names an epoch has no effect at a later one', () => {
    const command: AgentCommand = { type: 'Stop', target: 'sleeping', epoch: 1, at };
    expect(types(given(running, command))).toEqual(['AgentStopping.v2']);
    expect(types(given([...running, asleep(1, 'warm'), starting(2, 'wake')], command))).toEqual([]);
  });

  it('stops and sleeps from every other state, also during a start', () => {
    for (const history of [running, [created(), starting(1, 'deploy')], [...running, asleep(1, 'warm')]]) {
      expect(types(given(history, stop('stopped')))).toEqual(['AgentStopping.v2']);
    }
    const during = [created(), starting(1, 'deploy'), stopping(2, 'sleeping')];
    expect(given(during, { type: 'ConfirmStopped', epoch: 2, at }).events).toMatchObject([
      { type: 'AgentFellAsleep', data: { depth: 'cold' } },
    ]);
    expect(types(given(during, { type: 'ConfirmStarted', epoch: 1, guest, at }))).toEqual([]);
  });

  it('restarts from every state, and joins a restart in progress', () => {
    const restart: AgentCommand = { type: 'Start', cause: 'restart', at };
    for (const rest of [[], [asleep(1, 'cold')], [failed(1, 'x')], [stopping(2, 'stopped')]]) {
      expect(types(given([...running, ...rest], restart))).toEqual(['AgentStarting.v2']);
    }
    expect(types(given([...running, starting(2, 'restart')], restart))).toEqual([]);
  });
});

describe('start, stop, sleep and restart', () => {
  const orders: readonly AgentCommand[] = [
    { type: 'Start', cause: 'start', at },
    { type: 'Start', cause: 'restart', at },
    { type: 'Stop', target: 'stopped', at },
    { type: 'Stop', target: 'sleeping', at },
    { type: 'Sleep', warm: true, at },
    { type: 'Sleep', warm: false, at },
  ];

  it('are accepted in every state', () => {
    const histories = [
      [created(), starting(1, 'deploy')],
      running,
      ...[starting(2, 'restart'), starting(2, 'wake'), asleep(1, 'warm'), asleep(1, 'cold')].map((event) => [
        ...running,
        event,
      ]),
      ...[stopping(2, 'stopped'), stopping(2, 'sleeping'), failed(1, 'start_failed')].map((event) => [
        ...running,
        event,
      ]),
      [...running, stopping(2, 'stopped'), stopped(2)],
    ];
    for (const history of histories)
      for (const order of orders) expect(() => given(history, order)).not.toThrow();
  });
});

describe('deleting', () => {
  const gone: AgentEvent = { type: 'AgentDeletionRequested', data: { agentId, at } };

  it('works in every state', () => {
    for (const history of [
      running,
      [created(), starting(1, 'deploy')],
      [...running, failed(1, 'x')],
      [...running, asleep(1, 'warm')],
      [...running, stopping(2, 'stopped')],
    ]) {
      expect(types(given(history, { type: 'RequestDeletion', at }))).toEqual(['AgentDeletionRequested']);
    }
  });

  it('leaves no agent that can be found or woken', () => {
    const commands: AgentCommand[] = [
      wake(),
      { type: 'Start', cause: 'start', at },
      { type: 'RequestDeletion', at },
    ];
    for (const command of commands)
      expect(refusal(given([...running, gone], command))).toBe('agent_not_found');
  });

  it('is confirmed once', () => {
    expect(types(given([...running, gone], { type: 'ConfirmDeleted', at }))).toEqual(['AgentDeleted']);
    expect(
      types(
        given([...running, gone, { type: 'AgentDeleted', data: { agentId, at } }], {
          type: 'ConfirmDeleted',
          at,
        }),
      ),
    ).toEqual([]);
  });
});

describe('transient states', () => {
  it('fail with the reason when their deadline has passed', () => {
    for (const history of [
      [created(), starting(1, 'deploy')],
      [...running, starting(1, 'wake')],
      [...running, stopping(1, 'stopped')],
    ]) {
      const command: AgentCommand = {
        type: 'FailTransition',
        epoch: 1,
        code: 'timed_out',
        message: 'Too long.',
        at,
      };
      expect(given(history, command).events).toMatchObject([
        { type: 'AgentFailed', data: { code: 'timed_out' } },
      ]);
    }
    expect(types(given(running, { type: 'FailTransition', epoch: 1, code: 'x', message: 'x', at }))).toEqual(
      [],
    );
  });
});

describe('a start that its host breaks off because it cannot start agents', () => {
  const breakOff = (epoch: number): AgentCommand => ({ type: 'BreakOffStart', epoch, failure: null, at });

  it.each(['wake', 'recover', 'restart'] as const)(
    '(%s) leaves the agent asleep, to be woken later',
    (cause) => {
      const history = [...running, asleep(1, 'cold'), starting(2, cause)];
      const decided = given(history, breakOff(2));
      expect(decided.events).toMatchObject([
        { type: 'AgentFellAsleep', data: { epoch: 2, depth: 'cold', reason: 'host_unavailable' } },
      ]);
      expect(types(given([...history, ...decided.events], wake()))).toEqual(['AgentStarting.v2']);
    },
  );

  it('leaves a stopped agent stopped', () => {
    expect(
      types(given([...running, stopping(2, 'stopped'), stopped(2), starting(3, 'start')], breakOff(3))),
    ).toEqual(['AgentStopped']);
  });

  it('continues for a new agent, which has no earlier state to return to', () => {
    expect(types(given([created(), starting(1, 'deploy')], breakOff(1)))).toEqual([]);
  });

  it('has no effect at another epoch, or once the agent runs', () => {
    expect(types(given([...running, starting(2, 'wake')], breakOff(1)))).toEqual([]);
    expect(types(given(running, breakOff(1)))).toEqual([]);
  });

  it('is repeated when the host returns, for an agent that never sleeps', () => {
    const awake = [...running, asleep(1, 'cold', 'host_unavailable')];
    const settle: AgentCommand = { type: 'SettleAbsence', epoch: 1, alwaysOn: true, at };
    expect(types(given(awake, settle))).toEqual(['AgentStarting.v2']);
  });
});

it('a report that an agent ran out of memory is recorded without ending the agent, if it runs at that epoch', () => {
  const oom = (epoch: number): AgentCommand => ({ type: 'ReportOutOfMemory', epoch, message: 'Full.', at });
  const { events } = given(running, oom(1));
  expect(events).toMatchObject([{ type: 'AgentRanOutOfMemory', data: { epoch: 1, message: 'Full.' } }]);
  expect(types(given([...running, ...events], wake()))).toEqual([]);
  expect(types(given(running, oom(2)))).toEqual([]);
  expect(types(given([...running, asleep(1, 'cold')], oom(1)))).toEqual([]);
});
