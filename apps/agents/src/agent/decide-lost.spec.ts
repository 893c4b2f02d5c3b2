import { decideGiven, fold } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import type { AgentCommand } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import type { Agent, AgentEvent } from './agent.js';

const agentId = 'agt_1';
const time = (minute: number): string => new Date(Date.UTC(2026, 10, 23, 10, minute)).toISOString();
const personal = {
  endUserId: null,
  data: { name: 'a', externalId: null, externalUserId: null, instructions: null, labels: {} },
};
const guest = { version: '1', capabilities: [] };

/** It runs from 10:00 on. */
const running: readonly AgentEvent[] = [
  {
    type: 'AgentCreated.v3',
    data: {
      ...{ agentId, accountId: 'acc_1', templateId: 'echo', idleTtlSeconds: 900, personal, at: time(0) },
      resources: { memMb: 256, vcpus: 1, diskGb: 1 },
      source: { kind: 'template', version: 1, name: 'echo' },
    },
  },
  {
    type: 'AgentStarting.v2',
    data: {
      ...{ agentId, epoch: 1, host: 'h', cause: 'deploy', thaw: false, version: 1 },
      ...{ deadline: time(15), at: time(0) },
    },
  },
  { type: 'AgentStarted', data: { agentId, epoch: 1, guest, at: time(0) } },
];

const asleep: AgentEvent = {
  type: 'AgentFellAsleep',
  data: { agentId, epoch: 1, depth: 'warm', reason: 'idle', at: time(1) },
};

const decided = (events: readonly AgentEvent[], command: AgentCommand): readonly AgentEvent[] =>
  decideGiven(agentDecider, events, command).events;

it('a running agent whose end was not observed is known to have run until the last report of its host', () => {
  const last = { seenAt: time(5), at: time(10) };
  for (const command of [
    { type: 'LoseHost', ...last },
    { type: 'RemoveHost', ...last },
    { type: 'SettleAbsence', epoch: 1, alwaysOn: false, ...last },
    { type: 'SettleAbsence', epoch: 1, alwaysOn: true, ...last },
  ] as const) {
    const [first, second] = decided(running, command);
    expect(first).toEqual({ type: 'AgentUnseen', data: { agentId, epoch: 1, since: time(5), at: time(10) } });
    expect(second?.type).toMatch(/^Agent(Failed|FellAsleep|Starting\.v2)$/);
  }
});

it('an agent counts as seen when it started, if its host last reported before that', () => {
  const [first] = decided(running, { type: 'LoseHost', seenAt: '2026-11-23T09:00:00.000Z', at: time(10) });
  expect(first).toMatchObject({ type: 'AgentUnseen', data: { since: time(0) } });
});

describe('an agent whose host was lost while it ran', () => {
  const lost = [...running, ...decided(running, { type: 'LoseHost', seenAt: time(5), at: time(10) })];
  const present = (frozen: boolean): AgentCommand => ({
    ...{ type: 'SettlePresence', epoch: 1, frozen, at: time(20) },
  });

  it('is known to have run since the last report if the host returns with it at the same epoch', () => {
    expect(decided(lost, present(false))).toEqual([
      { type: 'AgentRanUnseen', data: { agentId, epoch: 1, since: time(5), at: time(20) } },
      { type: 'AgentStarted', data: { agentId, epoch: 1, guest, at: time(20) } },
    ]);
  });

  it('may have ended at any time if it is frozen or gone, or never reported', () => {
    const gone = { type: 'SettleAbsence', epoch: 1, alwaysOn: true, at: time(20) } as const;
    const never = [...running, ...decided(running, { type: 'LoseHost', at: time(10) })];
    for (const [events, command] of [
      [lost, present(true)],
      [lost, gone],
      [never, present(false)],
    ] as const)
      expect(decided(events, command).map(({ type }) => type)).not.toContain('AgentRanUnseen');
  });
});

it('no AgentUnseen is recorded for an agent that did not run, or whose host never reported', () => {
  const types = (events: readonly AgentEvent[], command: AgentCommand) =>
    decided(events, command).map(({ type }) => type);
  expect(types([...running, asleep], { type: 'LoseHost', seenAt: time(5), at: time(10) })).toEqual([
    'AgentFailed',
  ]);
  expect(types(running, { type: 'LoseHost', at: time(10) })).toEqual(['AgentFailed']);
});

describe('an agent whose host was lost during a start', () => {
  const lostDuring = (rest: 'warm' | 'cold'): readonly AgentEvent[] => {
    const resting: AgentEvent = { ...asleep, data: { ...asleep.data, depth: rest } };
    const wake: AgentCommand = { type: 'Wake', refusedEpoch: null, at: time(2) };
    const waking = [...running, resting, ...decided([...running, resting], wake)];
    return [...waking, ...decided(waking, { type: 'LoseHost', at: time(3) })];
  };
  const present = (frozen: boolean): AgentCommand => ({
    ...{ type: 'SettlePresence', epoch: 2, frozen, at: time(4) },
  });

  it('goes on with it at the same epoch when the host returns with processes of it', () => {
    for (const [rest, frozen] of [
      ['cold', false],
      ['cold', true],
      ['warm', false],
    ] as const)
      expect(decided(lostDuring(rest), present(frozen))).toEqual([
        {
          type: 'AgentStarting.v2',
          data: {
            ...{ agentId, epoch: 2, host: 'h', cause: 'wake', thaw: rest === 'warm', version: 1 },
            ...{ deadline: time(5), at: time(4) },
          },
        },
      ]);
  });

  it('sleeps warm if it was thawed and is frozen again', () => {
    expect(decided(lostDuring('warm'), present(true))).toMatchObject([
      { type: 'AgentFellAsleep', data: { epoch: 2, depth: 'warm' } },
    ]);
  });

  it('has the guest, the sizes and the token of that start', () => {
    const resources = { memMb: 512, vcpus: 1, diskGb: 2 };
    const other = { version: '2', capabilities: ['exec.detached'] };
    const confirm: AgentCommand = { type: 'ConfirmStarted', epoch: 2, guest: other, resources, at: time(4) };
    const lost = lostDuring('cold');
    const back = [...lost, ...decided(lost, present(false))];
    expect(fold(agentDecider, [...back, ...decided(back, confirm)])).toMatchObject({
      ...{ life: { state: 'running' }, startEpoch: 2, guest: other, sizes: resources, volumeGb: 2 },
    });
  });
});

describe('a version whose first start was under way when the host was lost', () => {
  const prepare: AgentCommand = {
    type: 'PrepareVersion',
    built: { kind: 'image', deploymentId: 'dep_2', image: 'registry.test/bot@sha256:0' },
    at: time(5),
  };
  const after = (...commands: readonly AgentCommand[]): Agent =>
    fold(
      agentDecider,
      commands.reduce<readonly AgentEvent[]>((events, one) => [...events, ...decided(events, one)], running),
    );
  const lose: AgentCommand = { type: 'LoseHost', at: time(6) };
  const present: AgentCommand = { type: 'SettlePresence', epoch: 2, frozen: false, at: time(7) };
  const absent: AgentCommand = { type: 'SettleAbsence', epoch: 2, alwaysOn: false, at: time(7) };

  it('becomes the source of the agent that sleeps because the host has no processes of it', () => {
    expect(after(prepare, lose, absent)).toMatchObject({
      source: { deploymentId: 'dep_2' },
      life: { state: 'sleeping', reason: 'host_restarted' },
    });
  });

  it('has run if the host confirms the start, so that the next wake thaws it', () => {
    const confirm: AgentCommand = { type: 'ConfirmStarted', epoch: 2, guest, at: time(7) };
    const sleep: AgentCommand = { type: 'FallAsleep', epoch: 2, depth: 'warm', reason: 'idle', at: time(8) };
    const wake: AgentCommand = { type: 'Wake', refusedEpoch: null, at: time(9) };
    expect(after(prepare, lose, present, confirm)).toMatchObject({
      source: { deploymentId: 'dep_2' },
      versions: { next: null, before: [] },
      life: { state: 'running' },
    });
    expect(after(prepare, lose, present, confirm, sleep, wake)).toMatchObject({
      life: { thaw: true, version: 2 },
    });
  });

  it('starts again if the agent is always on', () => {
    expect(after(prepare, lose, { ...absent, alwaysOn: true })).toMatchObject({
      life: { state: 'starting', cause: 'recover', version: 2 },
    });
  });
});
