import { decideGiven, fold } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { eventsOf, guest } from '../fixtures/memory-agents.fixture.js';
import type { AgentCommand, BuiltVersion } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import type { AgentEvent, LiveAgent } from './agent.js';
import { deploymentsInUse, sourceOf, startsWith } from './agent-versions.js';

const at = '2026-11-22T10:00:00.000Z';
const { created, starting, started, asleep, stopping, stopped } = eventsOf('agt_1');
const running = [created(), starting(1), started(1)];
const warm = [...running, asleep(1, 'warm')];

const built = (n: number): BuiltVersion => ({
  kind: 'git',
  deploymentId: `dep_${n}`,
  repoUrl: 'https://github.com/acme/bot',
  branch: 'main',
  commit: `c${n}`,
});
const prepare = (n: number): AgentCommand => ({ type: 'PrepareVersion', built: built(n), at });
const confirm = (epoch: number): AgentCommand => ({ type: 'ConfirmStarted', epoch, guest, at });
const fail = (epoch: number): AgentCommand => ({
  type: 'FailTransition',
  epoch,
  code: 'agent_start_failed',
  message: 'It did not listen.',
  at,
});
const wake: AgentCommand = { type: 'Wake', refusedEpoch: null, at };

/** The history with the events of the commands; throws if one is refused. */
const after = (history: readonly AgentEvent[], ...commands: readonly AgentCommand[]): readonly AgentEvent[] =>
  commands.reduce((events, command) => {
    const decided = decideGiven(agentDecider, events, command);
    if (decided.refusal !== undefined)
      throw new Error('The command was refused.', { cause: decided.refusal });
    return [...events, ...decided.events];
  }, history);

const agentAfter = (history: readonly AgentEvent[], ...commands: readonly AgentCommand[]): LiveAgent => {
  const agent = fold(agentDecider, after(history, ...commands));
  if (agent.status !== 'live') throw new Error('There is no agent.');
  return agent;
};

const newTypes = (history: readonly AgentEvent[], ...commands: readonly AgentCommand[]): readonly string[] =>
  after(history, ...commands)
    .slice(history.length)
    .map(({ type }) => type);

describe('a built version', () => {
  it('restarts a running agent, whose source it becomes once it runs', () => {
    expect(newTypes(running, prepare(2))).toEqual(['AgentVersionPrepared', 'AgentStarting.v2']);
    expect(agentAfter(running, prepare(2))).toMatchObject({
      source: { kind: 'template' },
      life: { state: 'starting', cause: 'restart', version: 2, thaw: false },
    });
    expect(agentAfter(running, prepare(2), confirm(2))).toMatchObject({
      source: { kind: 'git', version: 2, commit: 'c2' },
      life: { state: 'running' },
    });
  });

  it('starts a failed agent', () => {
    const failed = after(running, { type: 'ReportCrashLoop', epoch: 1, message: 'It crashed.', at });
    expect(agentAfter(failed, prepare(2)).life).toMatchObject({
      state: 'starting',
      cause: 'start',
      version: 2,
    });
  });

  it.each([
    ['stopped', [...running, stopped(1)]],
    ['sleeping', warm],
    ['stopping', [...running, stopping(2)]],
  ])('is at once the source of an agent that is %s, whose state stays', (state, history) => {
    expect(newTypes(history, prepare(2))).toEqual(['AgentVersionPrepared', 'AgentVersionAdopted']);
    expect(agentAfter(history, prepare(2))).toMatchObject({ source: { version: 2 }, life: { state } });
  });

  it('is started at the next wake of a warm agent, which is started cold instead of thawed', () => {
    expect(agentAfter(warm, prepare(2), wake).life).toMatchObject({ version: 2, thaw: false });
    expect(agentAfter(warm, wake).life).toMatchObject({ version: 1, thaw: true });
  });

  it('is prepared once', () => {
    expect(newTypes(after(running, prepare(2)), prepare(2))).toEqual([]);
    expect(newTypes(after(running, prepare(2), fail(2)), prepare(2))).toEqual([]);
  });

  it('becomes the source of an agent even if a stop interrupts the restart with it', () => {
    const stop: AgentCommand = { type: 'Stop', target: 'stopped', at };
    expect(agentAfter(running, prepare(2), stop)).toMatchObject({
      source: { version: 2 },
      life: { state: 'stopping' },
    });
  });
});

const start: AgentCommand = { type: 'Start', cause: 'start', at };
const restart: AgentCommand = { type: 'Start', cause: 'restart', at };
const COMING_UP: readonly (readonly [string, readonly AgentEvent[]])[] = [
  ['a first start', [created(), starting(2)]],
  ['a wake from warm sleep', after(warm, wake)],
  ['a wake from cold sleep', after([...running, asleep(1, 'cold')], wake)],
  ['a restart', after(running, restart)],
  [
    'a start after a failure',
    after(running, { type: 'ReportCrashLoop', epoch: 1, message: 'It crashed.', at }, start),
  ],
  ['a recovery', after(running, { type: 'ReportCrash', epoch: 1, message: 'It crashed.', at })],
];

describe.each(COMING_UP)('a version that is built during %s', (_, history) => {
  it('changes neither the start nor the source of the agent', () => {
    expect(newTypes(history, prepare(2))).toEqual(['AgentVersionPrepared']);
    const agent = agentAfter(history, prepare(2));
    expect(agent).toMatchObject({ source: { version: 1 }, epoch: 2, life: { version: 1 } });
    expect(sourceOf(agent, 1)).toMatchObject({ kind: 'template' });
  });

  it('restarts the agent when the start is over, and then becomes its source', () => {
    const before = after(history, prepare(2));
    expect(newTypes(before, confirm(2))).toEqual(['AgentStarted', 'AgentStarting.v2']);
    const restarted = agentAfter(before, confirm(2));
    expect(restarted).toMatchObject({ source: { version: 1 }, life: { cause: 'restart', version: 2 } });
    expect(sourceOf(restarted, 2)).toMatchObject({ deploymentId: 'dep_2' });
    expect(agentAfter(before, confirm(2), confirm(3))).toMatchObject({
      source: { version: 2 },
      life: { state: 'running' },
      versions: { next: null },
    });
  });

  it('starts if the start fails, and gives way to the version before it if it fails too', () => {
    const before = after(history, prepare(2));
    expect(agentAfter(before, fail(2))).toMatchObject({ epoch: 3, life: { version: 2 } });
    expect(agentAfter(before, fail(2), fail(3)).life).toMatchObject({ version: 1 });
    expect(agentAfter(before, fail(2), fail(3), fail(4)).life).toMatchObject({ state: 'failed' });
  });

  it.each<[string, AgentCommand]>([
    ['stop', { type: 'Stop', target: 'stopped', at }],
    ['sleep', { type: 'Sleep', warm: true, at }],
  ])('becomes the source of the agent if a %s ends the start', (__, command) => {
    expect(agentAfter(history, prepare(2), command)).toMatchObject({
      source: { version: 2 },
      life: { state: 'stopping' },
    });
  });

  it('waits for a host that is lost, and starts or is adopted when it returns', () => {
    const lose: AgentCommand = { type: 'LoseHost', at };
    const present = (frozen: boolean): AgentCommand => ({ type: 'SettlePresence', epoch: 2, frozen, at });
    for (const lost of [after(history, prepare(2), lose), after(history, lose, prepare(2))]) {
      expect(agentAfter(lost)).toMatchObject({ source: { version: 1 }, life: { code: 'host_lost' } });
      expect(agentAfter(lost, present(false), confirm(2)).life).toMatchObject({
        cause: 'restart',
        version: 2,
      });
      expect(startsWith(agentAfter(lost, present(true), confirm(2)))).toMatchObject({ version: 2 });
      const absent = agentAfter(lost, { type: 'SettleAbsence', epoch: 2, alwaysOn: false, at });
      expect(startsWith(absent)).toMatchObject({ version: 2 });
      if (absent.life.state === 'sleeping') expect(absent.source).toMatchObject({ version: 2 });
    }
  });
});

it('a version that is built during the first start of another restarts the agent with it', () => {
  const history = after([...running, asleep(1, 'cold')], prepare(2), wake, prepare(3));
  expect(agentAfter(history, confirm(2))).toMatchObject({ source: { version: 2 }, life: { version: 3 } });
  expect(agentAfter(history, fail(2))).toMatchObject({ life: { version: 3 } });
});

it('a version is prepared, and starts nothing, while the host of an agent that rested or ran is lost', () => {
  const lose: AgentCommand = { type: 'LoseHost', at };
  const rested = agentAfter([...running, stopped(1)], lose, prepare(2));
  expect(rested).toMatchObject({ source: { version: 2 }, life: { was: { state: 'stopped' } } });
  const ran = after(running, lose, prepare(2));
  expect(agentAfter(ran)).toMatchObject({ source: { version: 1 }, life: { code: 'host_lost' } });
  expect(agentAfter(ran, { type: 'SettlePresence', epoch: 1, frozen: false, at }).life).toMatchObject({
    cause: 'restart',
    version: 2,
  });
});

describe('a version whose first start its host breaks off because it cannot start agents', () => {
  const breakOff: AgentCommand = { type: 'BreakOffStart', epoch: 2, failure: null, at };
  const failed = after(running, { type: 'ReportCrashLoop', epoch: 1, message: 'It crashed.', at });

  it.each([
    ['sleeping', running],
    ['stopped', failed],
  ])('becomes the source of the agent, which is then %s and starts with it later', (state, history) => {
    const agent = agentAfter(history, prepare(2), breakOff);
    expect(agent).toMatchObject({ source: { version: 2 }, life: { state } });
    expect(startsWith(agent)).toMatchObject({ version: 2 });
  });

  it('gives way to the one before it if a later start fails', () => {
    const agent = agentAfter(running, prepare(2), breakOff, wake, fail(3));
    expect(agent).toMatchObject({ source: { version: 1 }, life: { state: 'starting', version: 1 } });
  });
});

describe('a version that does not start', () => {
  it('gives way to the one before it, which starts instead', () => {
    const types = newTypes(after(running, prepare(2)), fail(2));
    expect(types).toEqual(['AgentVersionAbandoned', 'AgentStarting.v2']);
    const agent = agentAfter(running, prepare(2), fail(2));
    expect(agent).toMatchObject({
      source: { kind: 'template', version: 1 },
      epoch: 3,
      life: { state: 'starting', cause: 'restart', version: 1 },
      versions: { next: null, abandoned: { deploymentId: 'dep_2', message: 'It did not listen.' } },
    });
  });

  it('gives way at a later start too', () => {
    const agent = agentAfter(warm, prepare(2), wake, fail(2), confirm(3));
    expect(agent).toMatchObject({ source: { version: 1 }, life: { state: 'running' } });
  });

  it('is replaced by an earlier version that has not run either, and that by one that has run', () => {
    const history = after([...running, asleep(1, 'cold')], prepare(2), prepare(3), wake);
    expect(agentAfter(history, fail(2)).life).toMatchObject({ version: 2 });
    expect(agentAfter(history, fail(2), fail(3)).life).toMatchObject({ version: 1 });
    expect(agentAfter(history, fail(2), fail(3), fail(4)).life).toMatchObject({ state: 'failed' });
  });

  it('fails the agent once it has run, and keeps the agent on it', () => {
    const agent = agentAfter(running, prepare(2), confirm(2), restart, fail(3));
    expect(agent).toMatchObject({ source: { version: 2 }, life: { state: 'failed' } });
  });

  it('never gives its number to another', () => {
    expect(agentAfter(running, prepare(2), fail(2), confirm(3), prepare(3)).life).toMatchObject({
      version: 3,
    });
  });
});

it('the code of every version that may still start is in use', () => {
  const asleepCold = [...running, asleep(1, 'cold')];
  expect(deploymentsInUse(agentAfter(asleepCold, prepare(2), prepare(3))).toSorted()).toEqual([
    'dep_2',
    'dep_3',
    'dep_3',
  ]);
  const later = agentAfter(asleepCold, prepare(2), prepare(3), wake, confirm(2));
  expect(new Set(deploymentsInUse(later))).toEqual(new Set(['dep_3']));
  expect(startsWith(later)).toMatchObject({ version: 3 });
});
