import { describe, expect, it } from 'vitest';
import type { AgentEvent, StartCause } from '../agent/agent.js';
import { byMonth, changeUse, monthOf, type AgentUse, type Awake, type UseChange } from './agent-use.js';

const agentId = 'agt_1';
const at = (second: number): string => new Date(Date.UTC(2026, 10, 23, 8, 0, second)).toISOString();
const guest = { version: '1', capabilities: [] };

const created = (endUserId: string | null): AgentEvent => ({
  type: 'AgentCreated.v3',
  data: {
    agentId,
    accountId: 'acc_1',
    templateId: 'echo',
    idleTtlSeconds: 900,
    resources: { memMb: 256, vcpus: 1, diskGb: 1 },
    personal:
      endUserId === null
        ? {
            endUserId,
            data: { name: 'a', externalId: null, externalUserId: null, instructions: null, labels: {} },
          }
        : { endUserId, sealed: 'p.x' },
    source: { kind: 'template', version: 1, name: 'echo' },
    at: at(0),
  },
});
const starting = (second: number, epoch: number, cause: StartCause): AgentEvent => ({
  type: 'AgentStarting.v2',
  data: { agentId, epoch, host: 'h', cause, thaw: false, version: 1, deadline: at(60), at: at(second) },
});
const started = (second: number, epoch: number): AgentEvent => ({
  type: 'AgentStarted',
  data: { agentId, epoch, guest, at: at(second) },
});
const asleep = (second: number, epoch: number, depth: 'warm' | 'cold' = 'warm'): AgentEvent => ({
  type: 'AgentFellAsleep',
  data: { agentId, epoch, depth, reason: 'idle', at: at(second) },
});
const stopped = (second: number, epoch: number): AgentEvent => ({
  type: 'AgentStopped',
  data: { agentId, epoch, at: at(second) },
});
const stopping = (second: number, epoch: number): AgentEvent => ({
  type: 'AgentStopping.v2',
  data: { agentId, epoch, target: 'sleeping', reason: 'requested', deadline: at(60), at: at(second) },
});
const failed = (second: number, epoch: number): AgentEvent => ({
  type: 'AgentFailed',
  data: { agentId, epoch, code: 'x', message: 'x', at: at(second) },
});

const changes = (...events: AgentEvent[]): readonly UseChange[] => {
  let use: AgentUse | null = null;
  return events.map((event) => {
    const change = changeUse(use, event);
    use = change.use;
    return change;
  });
};
const wakesOf = (...events: AgentEvent[]): readonly number[] =>
  changes(created('eus_1'), starting(0, 1, 'deploy'), started(1, 1), ...events).flatMap(({ wake }) =>
    wake === null ? [] : [wake.epoch],
  );
const awakeOf = (...events: AgentEvent[]): readonly Awake[] =>
  changes(created('eus_1'), ...events).flatMap(({ awake }) => awake ?? []);

describe('the wakes of an agent', () => {
  it('are its starts from sleeping and from stopped, for any cause', () => {
    expect(wakesOf(asleep(2, 1), starting(3, 2, 'wake'))).toEqual([2]);
    expect(wakesOf(stopped(2, 1), starting(3, 2, 'start'))).toEqual([2]);
    expect(wakesOf(asleep(2, 1), starting(3, 2, 'restart'))).toEqual([2]);
    expect(wakesOf(stopping(2, 2), starting(3, 3, 'wake'))).toEqual([3]);
  });

  it('include the wake of an agent whose host froze it without having reported that yet', () => {
    expect(wakesOf(starting(3, 2, 'wake'))).toEqual([2]);
  });

  it('do not include deployments, recoveries, restarts of a running agent and starts of a failed one', () => {
    expect(wakesOf()).toEqual([]);
    expect(wakesOf(asleep(2, 1), starting(3, 2, 'recover'))).toEqual([]);
    expect(wakesOf(starting(3, 2, 'restart'))).toEqual([]);
    expect(wakesOf(failed(2, 1), starting(3, 2, 'start'))).toEqual([]);
  });

  it('count a wake once that falls back to an earlier version', () => {
    expect(wakesOf(asleep(2, 1), starting(3, 2, 'wake'), starting(4, 3, 'wake'))).toEqual([2]);
  });
});

describe('the time for which an agent is awake', () => {
  it('is from running until it is not, not while it starts or sleeps warm', () => {
    const events = [starting(0, 1, 'deploy'), started(2, 1), asleep(10, 1), asleep(20, 1, 'cold')];
    expect(awakeOf(...events, starting(30, 2, 'wake'), started(31, 2), stopping(40, 3))).toEqual([
      { from: at(2), to: at(10) },
      { from: at(31), to: at(40) },
    ]);
  });

  it('ends with a restart, a failure and a deletion', () => {
    expect(awakeOf(started(2, 1), starting(5, 2, 'restart'), started(6, 2), failed(9, 2))).toEqual([
      { from: at(2), to: at(5) },
      { from: at(6), to: at(9) },
    ]);
    const deletion: AgentEvent = { type: 'AgentDeletionRequested', data: { agentId, at: at(7) } };
    const deleted: AgentEvent = { type: 'AgentDeleted', data: { agentId, at: at(9) } };
    expect(awakeOf(started(2, 1), deletion, deleted)).toEqual([{ from: at(2), to: at(7) }]);
  });

  it('ends with the last report of its host if its end was not observed', () => {
    const unseen: AgentEvent = {
      type: 'AgentUnseen',
      data: { agentId, epoch: 1, since: at(6), at: at(40) },
    };
    expect(awakeOf(started(2, 1), unseen, failed(40, 1))).toEqual([{ from: at(2), to: at(6) }]);
    expect(awakeOf(started(8, 1), unseen, failed(40, 1))).toEqual([]);
  });

  it('goes on without a gap if the host of the agent was lost and finds that it has run on', () => {
    const unseen = (type: 'AgentUnseen' | 'AgentRanUnseen', second: number): AgentEvent => ({
      type,
      data: { agentId, epoch: 1, since: at(6), at: at(second) },
    });
    const lost = [started(2, 1), unseen('AgentUnseen', 40), failed(40, 1)];
    const back = [unseen('AgentRanUnseen', 50), started(50, 1)];
    expect(awakeOf(...lost, ...back, asleep(60, 1))).toEqual([
      { from: at(2), to: at(6) },
      { from: at(6), to: at(60) },
    ]);
    expect(wakesOf(...lost, ...back)).toEqual([]);
  });

  it('is counted for agents of end users only', () => {
    const events = [
      created(null),
      starting(0, 1, 'deploy'),
      started(2, 1),
      asleep(10, 1),
      starting(11, 2, 'wake'),
    ];
    expect(changes(...events)).toEqual(events.map(() => ({ use: null, awake: null, wake: null })));
  });

  it('is divided at the beginning of a month in UTC', () => {
    const awake = { from: '2026-11-30T23:59:58.500Z', to: '2027-01-01T00:00:00.250Z' };
    expect([...byMonth(awake)]).toEqual([
      ['2026-11-01', 1_500],
      ['2026-12-01', 31 * 86_400_000],
      ['2027-01-01', 250],
    ]);
    expect(monthOf(Date.parse('2026-12-31T23:59:59.999Z'))).toEqual({
      month: '2026-12-01',
      begin: Date.parse('2026-12-01T00:00:00.000Z'),
      next: Date.parse('2027-01-01T00:00:00.000Z'),
    });
  });
});
