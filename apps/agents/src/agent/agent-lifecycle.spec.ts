import { HOST_FULL, HOST_UNAVAILABLE, runtimeRequests } from '@berth/contracts/runtime';
import { DomainError } from '@berth/kernel';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { at, eventsOf, guest, MemoryAgents } from '../fixtures/memory-agents.fixture.js';
import { systemOrigin } from './agent.command-handler.js';
import type { AgentCommand } from './agent.commands.js';
import type { AgentEvent } from './agent.js';
import { cannotStart } from './agent-lifecycle.js';

const agentId = 'agt_01';
const { created, starting, started, asleep, stopping, resized } = eventsOf(agentId);
let memory: MemoryAgents;

beforeEach(() => {
  memory = new MemoryAgents();
});

/** Drives an agent with this history; returns the types of the events that this adds. */
const drive = async (history: readonly AgentEvent[]): Promise<readonly string[]> => {
  await memory.given(agentId, history);
  await memory.lifecycle.drive(agentId);
  return memory.after(agentId, history.length);
};

const life = async (): Promise<unknown> => {
  const agent = await memory.agents.load(agentId);
  return agent.status === 'live' ? agent.life : agent.status;
};

describe('a start that the log has decided', () => {
  it('is requested from the host of the decision, with its epoch, and confirmed', async () => {
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    expect(await drive([created(), starting(3)])).toEqual(['AgentStarted']);
    expect(memory.hosts.requests).toMatchObject([{ host: 'hst_1', payload: { agentId, epoch: 3 } }]);
    expect(await life()).toMatchObject({ state: 'running' });
  });

  it('thaws the agent, or starts it cold if the host has no frozen processes of it', async () => {
    memory.hosts.on(runtimeRequests.thaw, () => {
      throw new DomainError('conflict', 'agent_not_frozen', 'Nothing is frozen.');
    });
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    expect(await drive([created(), starting(2, 'wake', true)])).toEqual(['AgentStartedAnew', 'AgentStarted']);
    expect(memory.hosts.of(runtimeRequests.thaw)).toEqual([{ agentId, epoch: 2, idleTtlSeconds: 900 }]);
    expect(memory.hosts.of(runtimeRequests.start)).toMatchObject([{ agentId, epoch: 2 }]);
  });

  it('is a cold start instead of a thaw if other sizes are in force than the frozen processes have', async () => {
    memory.hosts.on(runtimeRequests.thaw, () => ({ guest }));
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    const sizes = { memMb: 512, vcpus: 1, diskGb: 1 };
    const asleepWith = [created(), starting(1), resized(1, sizes), started(1), asleep(1, 'warm')];
    expect(await drive([...asleepWith, starting(2, 'wake', true)])).toEqual([
      'AgentResized',
      'AgentStartedAnew',
      'AgentStarted',
    ]);
    expect(memory.hosts.of(runtimeRequests.thaw)).toEqual([]);
    expect(memory.hosts.of(runtimeRequests.start)).toMatchObject([{ resources: { memMb: 256 } }]);
  });

  it('fails with the code of a host that refuses it', async () => {
    memory.hosts.on(runtimeRequests.start, () => {
      throw new DomainError('upstream', 'image_missing', 'There is no such image.');
    });
    expect(await drive([created(), starting(1)])).toEqual(['AgentFailed']);
    expect(await life()).toMatchObject({ state: 'failed', code: 'image_missing' });
  });

  it('is broken off instead of confirmed if a suspension began in the meantime', async () => {
    memory.hosts.on(runtimeRequests.start, () => {
      memory.admit = () =>
        Promise.reject(new DomainError('forbidden', 'end_user_suspended', 'The end user is suspended.'));
      return { guest };
    });
    memory.hosts.on(runtimeRequests.stop, () => ({}));
    expect(await drive([created(), starting(3, 'wake')])).toEqual(['AgentStopping.v2', 'AgentFellAsleep']);
    expect(memory.hosts.of(runtimeRequests.stop)).toEqual([{ agentId, epoch: 4 }]);
    expect(await life()).toMatchObject({ state: 'sleeping', depth: 'cold', reason: 'suspended' });
  });

  it('stays pending while it is unknown whether a suspension has begun', async () => {
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    memory.admit = () => Promise.reject(new DomainError('unavailable', 'service_unavailable', 'Later.'));
    expect(await drive([created(), starting(3, 'wake')])).toEqual([]);
    memory.admit = () => Promise.resolve(null);
    await memory.lifecycle.drive(agentId);
    expect(await life()).toMatchObject({ state: 'running' });
  });

  it('stays pending while its host cannot be reached, and continues at the next drive', async () => {
    expect(await drive([created(), starting(1)])).toEqual([]);
    expect(await life()).toMatchObject({ state: 'deploying' });
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    expect(await memory.lifecycle.drive(agentId)).toEqual({ settled: true });
    expect(await memory.after(agentId, 2)).toEqual(['AgentStarted']);
  });

  it('that the disk of the host has no room for is refused with that reason, and may be repeated', () => {
    const refusal = (code: string) => cannotStart(new DomainError('unavailable', code, 'No.'));
    expect(refusal(HOST_FULL)).toMatchObject({ context: { reason: 'storage_full' }, effect: 'none' });
    expect(refusal(HOST_UNAVAILABLE).context).toEqual({});
  });

  it.each([HOST_UNAVAILABLE, HOST_FULL])('is broken off by %s, and the agent stays asleep', async (code) => {
    memory.hosts.on(runtimeRequests.start, () => {
      throw new DomainError('unavailable', code, 'Not now.', {}, { effect: 'none' });
    });
    const history = [created(), starting(1), started(1), asleep(1, 'cold'), starting(2, 'wake')];
    expect(await drive(history)).toEqual(['AgentFellAsleep']);
    expect(await life()).toMatchObject({ state: 'sleeping', depth: 'cold', reason: 'host_unavailable' });
  });

  it('fails a new agent if the disk of its host is full, with the reason', async () => {
    memory.hosts.on(runtimeRequests.start, () => {
      throw new DomainError('unavailable', HOST_FULL, 'The disk is full.', {}, { effect: 'none' });
    });
    expect(await drive([created(), starting(1)])).toEqual(['AgentFailed']);
    expect(await life()).toMatchObject({
      state: 'failed',
      code: 'no_capacity',
      message: 'The disk is full.',
    });
  });

  it('is requested once by any number of drives at the same time', async () => {
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    await memory.given(agentId, [created(), starting(1)]);
    await Promise.all(Array.from({ length: 20 }, () => memory.lifecycle.drive(agentId)));
    expect(memory.hosts.of(runtimeRequests.start)).toHaveLength(1);
  });

  it('is confirmed once when two processes drive it', async () => {
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    await memory.given(agentId, [created(), starting(1)]);
    const driven = await Promise.all([memory.lifecycle.drive(agentId), memory.another().drive(agentId)]);
    expect(driven).toEqual([{ settled: true }, { settled: true }]);
    expect(await memory.after(agentId, 2)).toEqual(['AgentStarted']);
  });
});

describe('a stop that the log has decided', () => {
  it('is requested with its epoch and confirmed', async () => {
    memory.hosts.on(runtimeRequests.stop, () => ({}));
    expect(await drive([created(), starting(1), started(1), stopping(2)])).toEqual(['AgentStopped']);
    expect(memory.hosts.of(runtimeRequests.stop)).toEqual([{ agentId, epoch: 2 }]);
  });
});

/** A start on the host lasts until the host gets a later order, as with a program that never becomes ready. */
const startEndlessly = (): void => {
  let underWay: { readonly epoch: number; readonly end: () => void } | undefined;
  const begin = ({ epoch }: { readonly epoch: number }): Promise<{ guest: typeof guest }> => {
    end();
    return new Promise((_, reject) => {
      underWay = { epoch, end: () => reject(new DomainError('conflict', 'stale_epoch', 'Superseded.')) };
    });
  };
  const end = (): Record<string, never> => {
    underWay?.end();
    return {};
  };
  memory.hosts.on(runtimeRequests.thaw, () => {
    throw new DomainError('conflict', 'agent_not_frozen', 'Nothing is frozen.');
  });
  memory.hosts.on(runtimeRequests.start, begin);
  memory.hosts.on(runtimeRequests.stop, end);
  memory.hosts.on(runtimeRequests.remove, end);
};

const rested = [created(), starting(1), started(1), asleep(1, 'warm')];
const STARTS: readonly (readonly [string, readonly AgentEvent[]])[] = [
  ['a first start', [created(), starting(2)]],
  ['a start', [...rested, starting(2, 'start')]],
  ['a wake', [...rested, starting(2, 'wake', true)]],
];
const ENDS: readonly (readonly [string, AgentCommand, string])[] = [
  ['a stop', { type: 'Stop', target: 'stopped', at }, 'stopped'],
  ['a sleep', { type: 'Sleep', warm: true, at }, 'sleeping'],
  ['a suspension', { type: 'Stop', target: 'sleeping', reason: 'suspended', epoch: 2, at }, 'sleeping'],
  ['a deletion', { type: 'RequestDeletion', at }, 'deleted'],
];

describe.each(STARTS)('while %s is under way', (_, history) => {
  const handle = (command: AgentCommand) =>
    memory.agents.handle(agentId, command, systemOrigin('acc_1', command.type));
  const state = async (): Promise<string> => {
    const agent = await memory.agents.load(agentId);
    return agent.status === 'live' ? agent.life.state : agent.status;
  };
  let start: Promise<unknown>;

  beforeEach(async () => {
    startEndlessly();
    await memory.given(agentId, history);
    start = memory.lifecycle.drive(agentId);
    await vi.waitFor(() => expect(memory.hosts.of(runtimeRequests.start)).toHaveLength(1));
  });

  it.each(ENDS)('%s reaches the host at once and ends it, also for those who wait for it', async (...end) => {
    const [, command, after] = end;
    await handle(command);
    expect(await memory.lifecycle.drive(agentId)).toEqual({ settled: true });
    expect(await state()).toBe(after);
    expect(await start).toEqual({ settled: true });
    const ended = [runtimeRequests.stop, runtimeRequests.remove].flatMap((one) => memory.hosts.of(one));
    expect(ended).toHaveLength(1);
  });

  it('the deletion of the agent is carried out although its host was lost meanwhile', async () => {
    await handle({ type: 'LoseHost', at });
    await handle({ type: 'RequestDeletion', at });
    expect(await memory.lifecycle.drive(agentId)).toEqual({ settled: true });
    expect(await state()).toBe('deleted');
  });
});

it('a restart during a wake reaches the host at once', async () => {
  startEndlessly();
  await memory.given(agentId, [...rested, starting(2, 'wake')]);
  const wake = memory.lifecycle.drive(agentId);
  await vi.waitFor(() => expect(memory.hosts.of(runtimeRequests.start)).toHaveLength(1));
  const restart = { type: 'Start', cause: 'restart', at } as const;
  await memory.agents.handle(agentId, restart, systemOrigin('acc_1', 'restart'));
  const restarted = memory.lifecycle.drive(agentId);
  await vi.waitFor(() =>
    expect(memory.hosts.of(runtimeRequests.start)).toMatchObject([{ epoch: 2 }, { epoch: 3 }]),
  );
  memory.hosts.on(runtimeRequests.start, () => ({ guest }));
  const stop = { type: 'Stop', target: 'stopped', at } as const;
  await memory.agents.handle(agentId, stop, systemOrigin('acc_1', 'stop'));
  await memory.lifecycle.drive(agentId);
  expect(await Promise.all([wake, restarted])).toEqual([{ settled: true }, { settled: true }]);
});

describe('an agent with no transition in progress', () => {
  it('causes no event and no request to a host', async () => {
    expect(await drive([created(), starting(1), started(1)])).toEqual([]);
    expect(memory.hosts.requests).toEqual([]);
  });
});

describe('warm sleep', () => {
  const given = async (...history: readonly AgentEvent[]): Promise<void> => {
    await memory.given(agentId, history);
    const agent = await memory.agents.load(agentId);
    if (agent.status !== 'live') throw new Error('The agent is not live.');
    await memory.lifecycle.cool(agent);
  };

  it('turns cold once the host has freed the memory', async () => {
    memory.hosts.on(runtimeRequests.stop, () => ({}));
    await given(created(), starting(1), started(1), asleep(1, 'warm'));
    expect(memory.hosts.of(runtimeRequests.stop)).toEqual([{ agentId, epoch: 1 }]);
    expect(await life()).toMatchObject({ state: 'sleeping', depth: 'cold' });
  });

  it('stays warm while the host cannot be reached', async () => {
    await expect(given(created(), starting(1), started(1), asleep(1, 'warm'))).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect(await life()).toMatchObject({ state: 'sleeping', depth: 'warm' });
  });

  it('sends no request to a host when the agent already sleeps cold', async () => {
    await given(created(), starting(1), started(1), asleep(1, 'cold'));
    expect(memory.hosts.requests).toEqual([]);
  });
});
