import type { AgentRef, TransitionResult } from '@berth/contracts/agents';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, isDomainError, stepOf } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { AgentsFromLog } from '../agent-list/agents-from-log.js';
import { AgentsConfig } from '../config.js';
import { Admission, ownerOf } from './admission.js';
import { AgentCommandHandler } from './agent.command-handler.js';
import type { AgentCommand } from './agent.commands.js';
import { AgentLifecycle, cannotStart, isHostUnavailable } from './agent-lifecycle.js';
import { ofAccount } from './ensure-awake.js';
import type { AgentEvent } from './agent.js';
import { wakeOf } from './wake-of.js';
import { within } from '@berth/supervision';

type SleepRequested = Extract<AgentEvent, { readonly type: 'AgentSleepRequested' }>['data'];

/** A start is admitted again when the agent has changed in between. */
const MAX_TRIES = 5;
/** After this time a transition returns the agent in its current state, unsettled (202). */
const SETTLE_MS = 60_000;

/** Start, stop, sleep and restart at the owner's request. Repeating a request has no effect. */
@Injectable()
export class Transitions {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly fromLog: AgentsFromLog,
    private readonly config: AgentsConfig,
    private readonly admission: Admission,
  ) {}

  start(request: AgentRef): Promise<TransitionResult> {
    return this.begin(request, 'start');
  }

  restart(request: AgentRef): Promise<TransitionResult> {
    return this.begin(request, 'restart');
  }

  /** Errors: those of `Admission`. */
  private async begin(request: AgentRef, cause: 'start' | 'restart'): Promise<TransitionResult> {
    const { agentId } = request;
    for (let tried = 0; tried < MAX_TRIES; tried++) {
      const agent = ofAccount(await this.agents.load(agentId), request.accountId);
      const command = { type: 'Start', cause, admittedAt: agent.epoch, at: now() } as const;
      await this.admission.admit(cause, ownerOf(agent.profile), wakeOf(command, agent));
      const origin = tried === 0 ? request : stepOf(request, `again:${String(tried)}`);
      // The start is in the log at a time at which its wake fitted.
      const admitted = { ...command, at: now() };
      const { agent: after, events } = await this.agents.decide(agentId, admitted, origin);
      if (events.length > 0 || after.status !== 'live' || after.epoch === agent.epoch)
        return this.drive(request, TRANSIENT);
    }
    throw new DomainError('unavailable', 'service_unavailable', 'The agent keeps changing; try again.');
  }

  stop(request: AgentRef): Promise<TransitionResult> {
    return this.decideAndDrive(request, { type: 'Stop', target: 'stopped', at: now() });
  }

  /** Freezes a running agent if warm sleep is enabled; any other agent is stopped and sleeps cold. */
  async sleep(request: AgentRef): Promise<TransitionResult> {
    const { accountId, agentId } = request;
    ofAccount(await this.agents.load(agentId), accountId);
    const warm = this.config.warmSleepSeconds > 0;
    const { events } = await this.agents.decide(agentId, { type: 'Sleep', warm, at: now() }, request);
    const requested = events.find((event) => event.type === 'AgentSleepRequested');
    if (requested !== undefined) {
      if (await this.freeze(requested.data, request))
        return { agent: await this.fromLog.view(accountId, agentId), settled: true };
      const { epoch } = requested.data;
      const command = { type: 'Stop', target: 'sleeping', epoch, at: now() } as const;
      await this.agents.handle(agentId, command, stepOf(request, 'stop'));
    }
    return this.drive(request, FALLING_ASLEEP);
  }

  /** Returns whether the request is settled: the agent is frozen, or a concurrent wake won. */
  private async freeze({ agentId, epoch, host }: SleepRequested, request: AgentRef): Promise<boolean> {
    try {
      await this.requester.request(runtimeRequests.freeze, { agentId, epoch }, { host });
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

  private async decideAndDrive(request: AgentRef, command: AgentCommand): Promise<TransitionResult> {
    ofAccount(await this.agents.load(request.agentId), request.accountId);
    await this.agents.handle(request.agentId, command, request);
    return this.drive(request, TRANSIENT);
  }

  private async drive(request: AgentRef, unsettled: ReadonlySet<string>): Promise<TransitionResult> {
    const driven = await within(SETTLE_MS, this.lifecycle.drive(request.agentId), undefined);
    if (driven?.settled === false && isHostUnavailable(driven.error)) throw cannotStart(driven.error);
    const agent = await this.fromLog.view(request.accountId, request.agentId);
    return { agent, settled: !unsettled.has(agent.state) };
  }
}

const TRANSIENT: ReadonlySet<string> = new Set(['deploying', 'starting', 'stopping']);
/** `starting` is settled here: a concurrent wake won. */
const FALLING_ASLEEP: ReadonlySet<string> = new Set(['stopping']);

const now = (): string => new Date().toISOString();
