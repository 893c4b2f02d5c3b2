import { detach } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { AgentCommandHandler, systemOrigin } from '../agent/agent.command-handler.js';
import { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { LiveAgent, StopReason } from '../agent/agent.js';
import { HostDirectory } from '../host/host-directory.js';

/** Awake or coming up. */
const AWAKE: ReadonlySet<LiveAgent['life']['state']> = new Set(['deploying', 'starting', 'running']);

/**
 * Acts on an agent whose deadline has passed, whose warm sleep has lasted its time, whose account or end user is suspended,
 * or whose host is lost.
 */
@Injectable()
export class AgentTimeouts {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    @Inject(HostDirectory) private readonly hosts: Pick<HostDirectory, 'lastSeen'>,
  ) {}

  /** Fails the agent's transition if its deadline has passed. */
  async failOverdue(agentId: string): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live' || !('deadline' in agent.life)) return;
    const { state, deadline } = agent.life;
    if (Date.parse(deadline) > Date.now()) return;
    const { epoch, profile } = agent;
    const message = `The agent was ${state} for too long.`;
    const at = new Date().toISOString();
    await this.agents.handle(
      agentId,
      { type: 'FailTransition', epoch, code: `${state}_timed_out`, message, at },
      systemOrigin(profile.accountId, `${agentId}/${String(epoch)}/overdue`),
    );
  }

  /** Fails an agent whose host is lost. */
  loseHost(agentId: string): Promise<void> {
    return this.failWithHost(agentId, 'LoseHost');
  }

  /** Fails an agent whose host an operator has removed. */
  removeHost(agentId: string): Promise<void> {
    return this.failWithHost(agentId, 'RemoveHost');
  }

  private async failWithHost(agentId: string, type: 'LoseHost' | 'RemoveHost'): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live') return;
    const { epoch, since, profile, host } = agent;
    const seenAt = host === null ? null : await this.hosts.lastSeen(host);
    await this.agents.handle(
      agentId,
      { type, at: new Date().toISOString(), ...(seenAt === null ? {} : { seenAt }) },
      systemOrigin(profile.accountId, `${agentId}/${String(epoch)}/${since}/${type}`),
    );
  }

  /** Puts an agent of a suspended account or end user to sleep, without keeping its processes. */
  async suspend(agentId: string): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live') return;
    if (agent.life.state === 'sleeping') return this.lifecycle.cool(agent);
    await this.decideSuspension(agent);
    await this.lifecycle.drive(agentId);
  }

  /** Like `suspend`, for an agent that is awake or coming up; returns once no new call can reach it. */
  async beginSuspension(agentId: string): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live' || !AWAKE.has(agent.life.state)) return;
    await this.decideSuspension(agent);
    detach(this.lifecycle.drive(agentId));
  }

  /** Puts a running agent to sleep whose end user has used up its compute minutes, without keeping its processes. */
  async endOverCap(agentId: string): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live' || agent.life.state !== 'running') return;
    await this.putToSleep(agent, 'compute_cap_reached', 'over-cap');
    await this.lifecycle.drive(agentId);
  }

  private decideSuspension(agent: LiveAgent): Promise<void> {
    return this.putToSleep(agent, 'suspended', 'suspended');
  }

  private async putToSleep(
    { agentId, epoch, profile }: LiveAgent,
    reason: StopReason,
    step: string,
  ): Promise<void> {
    await this.agents.handle(
      agentId,
      { type: 'Stop', target: 'sleeping', reason, epoch, at: new Date().toISOString() },
      systemOrigin(profile.accountId, `${agentId}/${String(epoch)}/${step}`),
    );
  }

  /** Turns the agent's warm sleep cold. */
  async cool(agentId: string): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status === 'live') await this.lifecycle.cool(agent);
  }
}
