import type { AgentRef, TransitionResult } from '@berth/contracts/agents';
import { runtimeRequests } from '@berth/contracts/runtime';
import { isDomainError, stepOf } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { DecidedAgents } from '../agent-list/decided-agents.js';
import { AgentsConfig } from '../config.js';
import { AgentCommandHandler } from './agent.command-handler.js';
import type { AgentCommand } from './agent.commands.js';
import { AgentLifecycle } from './agent-lifecycle.js';
import { ofAccount } from './ensure-awake.js';
import type { LiveAgent } from './agent.js';
import { within } from './within.js';

/** After this time a transition returns the agent as it is, unsettled (202). */
const SETTLE_MS = 60_000;

/** Start, stop, sleep and restart at the owner's request. Repeating a request has no effect. */
@Injectable()
export class Transitions {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly decided: DecidedAgents,
    private readonly config: AgentsConfig,
  ) {}

  start(request: AgentRef): Promise<TransitionResult> {
    return this.decideAndDrive(request, { type: 'Start', cause: 'start', at: now() });
  }

  restart(request: AgentRef): Promise<TransitionResult> {
    return this.decideAndDrive(request, { type: 'Start', cause: 'restart', at: now() });
  }

  stop(request: AgentRef): Promise<TransitionResult> {
    return this.decideAndDrive(request, { type: 'Stop', target: 'stopped', at: now() });
  }

  /** Freezes a running agent if warm sleep is enabled; any other agent is stopped and sleeps cold. */
  async sleep(request: AgentRef): Promise<TransitionResult> {
    const agent = ofAccount(await this.agents.load(request.agentId), request.accountId);
    if (
      agent.life.state === 'running' &&
      this.config.warmSleepSeconds > 0 &&
      (await this.freeze(agent, request))
    ) {
      return { agent: await this.decided.view(request.accountId, request.agentId), settled: true };
    }
    const command = { type: 'Stop', target: 'sleeping', at: now() } as const;
    return await this.decideAndDrive(request, command, FALLING_ASLEEP);
  }

  /** Returns whether the request is settled: the agent is frozen, or a concurrent wake won. */
  private async freeze(agent: LiveAgent, request: AgentRef): Promise<boolean> {
    const { agentId, epoch, host } = agent;
    try {
      await this.requester.request(runtimeRequests.freeze, { agentId, epoch }, { host: host ?? '' });
    } catch (error) {
      if (!isDomainError(error)) throw error;
      if (error.code === 'stale_epoch') return true;
      if (error.code === 'agent_not_on_host') return false;
      throw error;
    }
    const command = { type: 'FallAsleep', epoch, depth: 'warm', reason: 'requested', at: now() } as const;
    await this.agents.handle(agentId, command, stepOf(request, 'frozen'));
    return true;
  }

  private async decideAndDrive(
    request: AgentRef,
    command: AgentCommand,
    unsettled = TRANSIENT,
  ): Promise<TransitionResult> {
    ofAccount(await this.agents.load(request.agentId), request.accountId);
    await this.agents.handle(request.agentId, command, request);
    await within(SETTLE_MS, this.lifecycle.drive(request.agentId), undefined);
    const agent = await this.decided.view(request.accountId, request.agentId);
    return { agent, settled: !unsettled.has(agent.state) };
  }
}

const TRANSIENT: ReadonlySet<string> = new Set(['deploying', 'starting', 'stopping']);
/** `starting` is settled here: a concurrent wake won. */
const FALLING_ASLEEP: ReadonlySet<string> = new Set(['stopping']);

const now = (): string => new Date().toISOString();
