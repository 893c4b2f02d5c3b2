import { HOST_UNAVAILABLE, runtimeRequests } from '@berth/contracts/runtime';
import { DomainError } from '@berth/kernel';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { at, eventsOf, guest, MemoryAgents } from '../fixtures/memory-agents.fixture.js';
import { systemOrigin } from '../agent/agent.command-handler.js';
import type { AgentCommand } from '../agent/agent.commands.js';
import { VersionRollout } from './version-rollout.js';

const agentId = 'agt_01';
const { created, starting, started } = eventsOf(agentId);
const deployment = {
  ...{ stage: 'built', deploymentId: 'dep_2', agentId, accountId: 'acc_1', requestedAt: at, since: at },
  origin: { kind: 'image', image: 'registry.test/bot:1', insecure: false },
  code: { image: 'registry.test/bot@sha256:0' },
} as unknown as Parameters<VersionRollout['settle']>[0];

describe('a deployment of a version that was built', () => {
  let memory: MemoryAgents;
  let rollout: VersionRollout;

  beforeEach(async () => {
    memory = new MemoryAgents();
    rollout = new VersionRollout(memory.agents, memory.lifecycle);
    await memory.given(agentId, [created(), starting(1), started(1)]);
  });

  const handle = (command: AgentCommand) =>
    memory.agents.handle(agentId, command, systemOrigin('acc_1', command.type));
  const breakOff = () => {
    memory.hosts.on(runtimeRequests.start, () => {
      throw new DomainError('unavailable', HOST_UNAVAILABLE, 'The host can start no agent.');
    });
  };

  it('succeeds when the version runs', async () => {
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    expect(await rollout.settle(deployment)).toMatchObject({ type: 'Succeed' });
  });

  it('fails when the version does not start', async () => {
    memory.hosts.on(runtimeRequests.start, ({ epoch }) => {
      if (epoch === 2) throw new DomainError('upstream', 'agent_start_failed', 'It did not listen.');
      return { guest };
    });
    expect(await rollout.settle(deployment)).toMatchObject({ type: 'Fail', message: 'It did not listen.' });
  });

  it('succeeds when its host could start no agent, because the next start runs the version', async () => {
    breakOff();
    expect(await rollout.settle(deployment)).toMatchObject({ type: 'Succeed' });
  });

  it('goes on during a start of the version before it, and succeeds when its own version runs', async () => {
    const other = 'agt_02';
    const { created: made, starting: begun } = eventsOf(other);
    await memory.given(other, [made(), begun(1)]);
    const first = Promise.withResolvers<{ guest: typeof guest }>();
    memory.hosts.on(runtimeRequests.start, ({ epoch }) => (epoch === 1 ? first.promise : { guest }));
    const settled = rollout.settle({ ...deployment, agentId: other });
    await vi.waitFor(() => expect(memory.hosts.of(runtimeRequests.start)).toHaveLength(1));
    expect(await memory.agents.load(other)).toMatchObject({ source: { version: 1 } });
    // Another process reads the agent only now, and continues the start with the version of the start.
    const another = memory.another().drive(other);
    await vi.waitFor(() => expect(memory.hosts.of(runtimeRequests.start)).toHaveLength(2));
    first.resolve({ guest });
    expect(await settled).toMatchObject({ type: 'Succeed' });
    await another;
    const starts = memory.hosts.of(runtimeRequests.start).map(({ epoch, source }) => [epoch, source.version]);
    expect(new Set(starts.map(String))).toEqual(new Set(['1,1', '2,2']));
  });

  it('goes on while the host of the agent is lost, and fails when the host is removed', async () => {
    expect(await rollout.settle(deployment)).toBeNull();
    await handle({ type: 'LoseHost', at });
    expect(await rollout.settle(deployment)).toBeNull();
    await handle({ type: 'RemoveHost', at });
    expect(await rollout.settle(deployment)).toMatchObject({ type: 'Fail', code: 'version_did_not_start' });
  });
});
