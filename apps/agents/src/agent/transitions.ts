import type { AgentRef, TransitionResult } from '@berth/contracts/agents';
import { runtimeRequests } from '@berth/contracts/runtime';
import { isDomainError, stepOf } from '@berth/kernel';
import type { Requester } from '@berth/messaging';
import type { DecidedAgents } from '../agent-list/decided-agents.js';
import type { AgentCommandHandler } from './agent.command-handler.js';
import type { AgentCommand } from './agent.commands.js';
import type { AgentLifecycle } from './agent-lifecycle.js';
import { ofAccount } from './ensure-awake.js';
import type { LiveAgent } from './agent.js';
import { within } from './within.js';

/** Past it a transition is answered 202 with the agent as it is. */
const SETTLE_MS = 60_000;

export interface TransitionOptions {
  /** How long explicit sleep keeps the processes frozen before they end; 0 ends them at once. */
  readonly warmSleepSeconds: number;
}

/** start, stop, sleep and restart as the owner asks for them. Repeating one that holds already is fine. */
export class Transitions {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly requester: Pick<Requester, 'request'>,
    private readonly decided: DecidedAgents,
    private readonly options: TransitionOptions,
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

  /** Running and warm sleep wanted: freeze. Everything else goes cold by the way of a stop. */
  async sleep(request: AgentRef): Promise<TransitionResult> {
    const agent = ofAccount(await this.agents.load(request.agentId), request.accountId);
    if (
      agent.life.state === 'running' &&
      this.options.warmSleepSeconds > 0 &&
      (await this.freeze(agent, request))
    ) {
      return { agent: await this.decided.view(request.accountId, request.agentId), settled: true };
    }
    const command = { type: 'Stop', target: 'sleeping', at: now() } as const;
    return await this.decideAndDrive(request, command, FALLING_ASLEEP);
  }

  /** Whether the matter is settled: frozen, or awake again because a wake met it and won. */
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
/** An agent that starts was asleep and is being woken again: the wake wins, and the sleep is over. */
const FALLING_ASLEEP: ReadonlySet<string> = new Set(['stopping']);

const now = (): string => new Date().toISOString();
