import { decideGiven, fold, isDomainError, type Decided } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import type { AgentCommand } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import type { AgentEvent, LiveAgent, StartCause } from './agent.js';

const agentId = 'agt_01';
const at = '2026-11-22T10:00:00.000Z';
const guest = { version: '1.0.0', capabilities: [] };

const created = (): AgentEvent => ({
  type: 'AgentCreated.v3',
  data: {
    agentId,
    accountId: 'acc_1',
    templateId: 'echo',
    idleTtlSeconds: 900,
    resources: { memMb: 256, vcpus: 1, diskGb: 1 },
    personal: {
      endUserId: null,
      data: {
        name: 'ada',
        externalId: null,
        externalUserId: null,
        instructions: null,
        labels: {},
      },
    },
    source: { kind: 'template', version: 1, name: 'echo' },
    at,
  },
});
const starting = (epoch: number, cause: StartCause, thaw = false): AgentEvent => ({
  type: 'AgentStarting.v2',
  data: { agentId, epoch, host: 'hst_1', cause, thaw, version: 1, deadline: at, at },
});
const started = (epoch: number): AgentEvent => ({
  type: 'AgentStarted',
  data: { agentId, epoch, guest, at },
});
const asleep = (epoch: number, depth: 'warm' | 'cold'): AgentEvent => ({
  type: 'AgentFellAsleep',
  data: { agentId, epoch, depth, reason: 'requested', at },
});
const stopping = (epoch: number, target: 'stopped' | 'sleeping'): AgentEvent => ({
  type: 'AgentStopping',
  data: { agentId, epoch, target, deadline: at, at },
});
const stopped = (epoch: number): AgentEvent => ({ type: 'AgentStopped', data: { agentId, epoch, at } });

const running = [created(), starting(1, 'deploy'), started(1)];
const warm = [...running, asleep(1, 'warm')];
const cold = [...running, asleep(1, 'cold')];
const atRest = [...running, stopping(2, 'stopped'), stopped(2)];

const given = (history: readonly AgentEvent[], command: AgentCommand): Decided<AgentEvent> =>
  decideGiven(agentDecider, history, command);
const after = (history: readonly AgentEvent[], command: AgentCommand): readonly AgentEvent[] => {
  const { events, refusal } = given(history, command);
  expect(refusal).toBeUndefined();
  return [...history, ...events];
};
const lost = (history: readonly AgentEvent[]): readonly AgentEvent[] =>
  after(history, { type: 'LoseHost', at });
const live = (history: readonly AgentEvent[]): LiveAgent => {
  const agent = fold(agentDecider, history);
  if (agent.status !== 'live') throw new Error('The agent is gone.');
  return agent;
};
/** The agent once its host has returned without processes of it. */
const absent = (history: readonly AgentEvent[], alwaysOn = false): LiveAgent => {
  const { epoch } = live(history);
  return live(after(history, { type: 'SettleAbsence', epoch, alwaysOn, at: '2026-11-22T12:00:00.000Z' }));
};
/** The agent once its host has returned with its processes. */
const present = (history: readonly AgentEvent[], epoch: number, frozen: boolean): LiveAgent =>
  live(after(history, { type: 'SettlePresence', epoch, frozen, at }));

describe('an agent of a lost host', () => {
  it.each([
    ['running', running],
    ['frozen', warm],
    ['cold', cold],
    ['stopped', atRest],
    ['starting', [...cold, starting(2, 'wake')]],
    ['stopping', [...running, stopping(2, 'stopped')]],
  ])('that was %s has failed with host_lost', (_, history) => {
    const agent = live(lost(history));
    expect(agent.life).toMatchObject({ state: 'failed', code: 'host_lost' });
    expect(agent.epoch).toBe(live(history).epoch);
  });

  it('keeps the reason of an earlier failure', () => {
    const failed: AgentEvent = {
      type: 'AgentFailed',
      data: { agentId, epoch: 1, code: 'agent_crash_loop', message: 'It broke.', at },
    };
    expect(live(lost([...running, failed])).life).toMatchObject({ code: 'agent_crash_loop' });
    expect(live(lost(lost(cold))).life).toMatchObject({ was: { state: 'sleeping' } });
  });

  it('is unavailable to every request of its owner', () => {
    for (const command of [
      { type: 'Wake', refusedEpoch: null, at },
      { type: 'Start', cause: 'start', at },
      { type: 'Start', cause: 'restart', at },
      { type: 'Stop', target: 'stopped', at },
      { type: 'Sleep', warm: true, at },
    ] as const) {
      const { refusal } = given(lost(cold), command);
      expect(isDomainError(refusal, 'unavailable') && refusal.code).toBe('agent_unavailable');
    }
  });
});

describe('an agent whose host has returned', () => {
  it('runs on under its epoch', () =>
    expect(present(lost(running), 1, false)).toMatchObject({ epoch: 1, life: { state: 'running' } }));

  it('is frozen if the host has it frozen', () => {
    for (const history of [running, warm])
      expect(present(lost(history), 1, true).life).toMatchObject({ state: 'sleeping', depth: 'warm' });
  });

  it('is what it was if it had no processes', () => {
    expect(absent(lost(cold)).life).toEqual({ state: 'sleeping', depth: 'cold', reason: 'requested' });
    expect(absent(lost(atRest)).life).toEqual({ state: 'stopped' });
  });

  it('sleeps cold if the host lost its processes, and starts again only if it is always on', () => {
    for (const history of [running, warm])
      expect(absent(lost(history)).life).toMatchObject({ state: 'sleeping', depth: 'cold' });
    expect(absent(lost(running), true).life).toMatchObject({ state: 'starting', cause: 'recover' });
    expect(absent(lost(warm), true).life).toMatchObject({ state: 'sleeping' });
    const shutDown: AgentEvent = {
      type: 'AgentFellAsleep',
      data: { agentId, epoch: 1, depth: 'cold', reason: 'host_shutdown', at },
    };
    expect(absent(lost([...running, shutDown]), true).life).toMatchObject({ state: 'starting' });
    expect(absent(lost([...running, shutDown])).life).toMatchObject({ reason: 'host_shutdown' });
  });

  it('is not woken by a wake that did not reach the host: its caller was refused', () => {
    expect(absent(lost([...cold, starting(2, 'wake')])).life).toMatchObject({ state: 'sleeping' });
    expect(present(lost([...warm, starting(2, 'wake', true)]), 1, true).life).toMatchObject({
      state: 'sleeping',
      depth: 'warm',
    });
  });

  it('gets the restart, the deployment or the stop that did not reach the host again, under a new epoch', () => {
    const restarted = present(lost([...running, starting(2, 'restart')]), 1, false);
    expect(restarted).toMatchObject({ epoch: 3, life: { state: 'starting', cause: 'restart' } });
    expect(absent(lost([created(), starting(1, 'deploy')]))).toMatchObject({
      epoch: 2,
      life: { state: 'deploying' },
    });
    expect(present(lost([...running, stopping(2, 'stopped')]), 1, false)).toMatchObject({
      epoch: 3,
      life: { state: 'stopping', target: 'stopped' },
    });
    expect(absent(lost([...running, stopping(2, 'stopped')])).life).toEqual({ state: 'stopped' });
  });

  it('ignores what the host says about an epoch that is over', () => {
    const history = lost(running);
    expect(given(history, { type: 'SettleAbsence', epoch: 0, alwaysOn: false, at }).events).toEqual([]);
    expect(given(history, { type: 'SettlePresence', epoch: 0, frozen: false, at }).events).toEqual([]);
  });
});

describe('an agent whose host was removed', () => {
  const removed = after(lost(cold), { type: 'RemoveHost', at });

  it('has failed with host_removed for good', () => {
    expect(live(removed).life).toMatchObject({ state: 'failed', code: 'host_removed' });
    expect(given(removed, { type: 'RemoveHost', at }).events).toEqual([]);
    expect(given(removed, { type: 'LoseHost', at }).events).toEqual([]);
    for (const found of [
      { type: 'SettleAbsence', alwaysOn: true },
      { type: 'SettlePresence', frozen: false },
    ] as const)
      expect(given(removed, { ...found, epoch: 1, at }).events).toEqual([]);
  });

  it('cannot be started, woken, stopped or put to sleep, but can be deleted', () => {
    for (const command of [
      { type: 'Wake', refusedEpoch: null, at },
      { type: 'Start', cause: 'restart', at },
      { type: 'Stop', target: 'stopped', at },
      { type: 'Sleep', warm: true, at },
    ] as const) {
      const { refusal } = given(removed, command);
      expect(isDomainError(refusal, 'conflict') && refusal.code).toBe('agent_failed');
    }
    expect(given(removed, { type: 'RequestDeletion', at }).events).toHaveLength(1);
  });
});
