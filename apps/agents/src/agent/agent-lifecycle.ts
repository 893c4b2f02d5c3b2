import { HOST_FULL, HOST_UNAVAILABLE, runtimeRequests, type StartedAgent } from '@berth/contracts/runtime';
import { DomainError, isDomainError, storageFull } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { ENV_TOO_LARGE } from '../env/env-limits.js';
import { HostStreams } from '../host/host.streams.js';
import type { AdmittedWake } from './act.js';
import { Admission, ownerOf } from './admission.js';
import { countStart } from './agent-metrics.js';
import { AgentCommandHandler, systemOrigin, type CommandOrigin } from './agent.command-handler.js';
import type { Agent, LiveAgent, Resources } from './agent.js';
import { StartRecipe } from './start-recipe.js';
import { TransitionRuns, type DriveResult } from '@berth/boxes';

/**
 * Carries out the transitions that are in progress according to the log: starts, thaws, stops and removals. Each request
 * to the host has the epoch of the decision, so any process may send it, twice or after a crash.
 */
@Injectable()
export class AgentLifecycle {
  private readonly runs: TransitionRuns<Agent>;

  constructor(
    private readonly agents: AgentCommandHandler,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly recipe: StartRecipe,
    private readonly hosts: HostStreams,
    @Inject(Admission) private readonly admission: Pick<Admission, 'admit'>,
    log: Logger,
  ) {
    this.runs = new TransitionRuns(agents, log);
  }

  /**
   * Drives the agent's transitions until all have ended, or one fails. Concurrent calls share one run. `admitted`: the
   * wake that the caller has just begun.
   */
  drive(agentId: string, admitted: AdmittedWake | null = null): Promise<DriveResult> {
    return this.runs.drive(agentId, (agent) => this.step(agent, admitted));
  }

  /** Returns whether it carried out a transition. */
  private async step(agent: Agent, admitted: AdmittedWake | null): Promise<boolean> {
    if (agent.status === 'deleting') return await this.remove(agent);
    if (agent.status !== 'live') return false;
    switch (agent.life.state) {
      case 'deploying':
      case 'starting':
        return await this.start(agent, agent.life, admitted);
      case 'stopping':
        return await this.stop(agent);
      case 'running':
      case 'stopped':
      case 'sleeping':
      case 'failed':
        return false;
    }
  }

  private async start(
    agent: LiveAgent,
    life: { readonly cause: string; readonly thaw: boolean; readonly deadline: string },
    admitted: AdmittedWake | null,
  ): Promise<boolean> {
    const { agentId, epoch } = agent;
    try {
      const thawed = life.thaw ? await this.thaw(agent, admitted) : null;
      const started = thawed ?? (await this.startCold(agent, life.deadline));
      if (await this.isSuspended(agent)) return await this.breakOffSuspended(agent);
      await this.agents.handle(
        agentId,
        { type: 'ConfirmStarted', epoch, ...started, at: now() },
        this.origin(agent, 'started'),
      );
      countStart(life.cause, thawed !== null);
    } catch (error) {
      if (isHostUnavailable(error)) await this.breakOff(agent, error);
      if (!isDomainError(error, 'upstream')) throw error;
      const { code, message } = error;
      await this.agents.handle(
        agentId,
        { type: 'FailTransition', epoch, code, message, at: now() },
        this.origin(agent, 'failed'),
      );
    }
    return true;
  }

  /**
   * A suspension may have begun since the start was admitted. Calls to a running agent are not checked, so a suspended
   * agent must not become `running`. A suspension that begins after this look-up finds the agent `starting`.
   */
  private async isSuspended({ profile }: LiveAgent): Promise<boolean> {
    try {
      await this.admission.admit('use', ownerOf(profile));
      return false;
    } catch (error) {
      if (isDomainError(error, 'forbidden')) return true;
      throw error;
    }
  }

  private async breakOffSuspended(agent: LiveAgent): Promise<true> {
    const { agentId, epoch } = agent;
    const command = { type: 'Stop', target: 'sleeping', reason: 'suspended', epoch, at: now() } as const;
    await this.agents.handle(agentId, command, this.origin(agent, 'suspended'));
    return true;
  }

  /** The host can start no agent at present. */
  private async breakOff(agent: LiveAgent, { code, message }: DomainError): Promise<void> {
    const failure = code === HOST_FULL ? { code: 'no_capacity', message } : null;
    const command = { type: 'BreakOffStart', epoch: agent.epoch, failure, at: now() } as const;
    await this.agents.handle(agent.agentId, command, this.origin(agent, 'broken-off'));
  }

  /** Returns null when the host has no frozen processes of the agent any more, or they have other sizes than they should. */
  private async thaw(agent: LiveAgent, admitted: AdmittedWake | null): Promise<StartedAgent | null> {
    const request = await this.recipe.ofThaw(agent, admitted);
    if (request === null) return null;
    try {
      const { guest } = await this.requester.request(runtimeRequests.thaw, request, toHost(agent));
      return { guest };
    } catch (error) {
      if (isDomainError(error) && (error.code === 'agent_not_frozen' || error.code === 'agent_not_on_host'))
        return null;
      throw error;
    }
  }

  private async startCold(
    agent: LiveAgent,
    deadline: string,
  ): Promise<StartedAgent & { readonly resources: Resources }> {
    const deadlineMs = Math.max(1_000, Math.min(60_000, Date.parse(deadline) - Date.now()));
    const request = await this.recipe.of(agent, deadlineMs);
    const { guest } = await this.requester
      .request(runtimeRequests.start, request, toHost(agent))
      .catch(refuseTooLarge);
    return { guest, resources: request.resources };
  }

  private async stop(agent: LiveAgent): Promise<boolean> {
    const { agentId, epoch } = agent;
    if (agent.host !== null)
      await this.requester.request(runtimeRequests.stop, { agentId, epoch }, toHost(agent));
    await this.agents.handle(
      agentId,
      { type: 'ConfirmStopped', epoch, at: now() },
      this.origin(agent, 'stopped'),
    );
    return true;
  }

  private async remove(agent: Extract<Agent, { status: 'deleting' }>): Promise<boolean> {
    const { agentId, accountId } = agent;
    // Before the request, because the host may be lost.
    await this.recipe.forget(agentId);
    if (agent.host !== null && !(await this.isRemoved(agent.host)))
      await this.requester.request(runtimeRequests.remove, { agentId }, { host: agent.host });
    await this.agents.handle(
      agentId,
      { type: 'ConfirmDeleted', at: now() },
      systemOrigin(accountId, `${agentId}/deleted`),
    );
    return true;
  }

  /** A removed host takes no orders, also if it returns. */
  private async isRemoved(host: string): Promise<boolean> {
    return (await this.hosts.load(host)).state.status === 'removed';
  }

  /** Takes the agent from warm sleep to cold, which frees its memory. A concurrent wake has a higher epoch and wins. */
  async cool(agent: LiveAgent): Promise<void> {
    if (agent.life.state !== 'sleeping' || agent.life.depth !== 'warm' || agent.host === null) return;
    const { agentId, epoch } = agent;
    await this.requester.request(runtimeRequests.stop, { agentId, epoch }, { host: agent.host });
    const command = { type: 'FallAsleep', epoch, depth: 'cold', reason: 'cooled', at: now() } as const;
    await this.agents.handle(agentId, command, this.origin(agent, 'cooled'));
  }

  private origin(agent: LiveAgent, what: string): CommandOrigin {
    return systemOrigin(agent.profile.accountId, `${agent.agentId}/${String(agent.epoch)}/${what}`);
  }
}

/** Whether the host could start no agent when it was asked for one. */
export const isHostUnavailable = (error: unknown): error is DomainError =>
  isDomainError(error, 'unavailable') && (error.code === HOST_UNAVAILABLE || error.code === HOST_FULL);

/** For a caller that needs an agent started. */
export const cannotStart = (cause?: unknown): DomainError =>
  isDomainError(cause) && cause.code === HOST_FULL
    ? storageFull({ cause, effect: 'none' })
    : new DomainError(
        'unavailable',
        'service_unavailable',
        'The machine of the agent can start no agent at present; try again shortly.',
        {},
        { cause, effect: 'none' },
      );

/** A retry would be as large, so the start fails. Only agents from before the limits can be this large. */
const refuseTooLarge = (error: unknown): never => {
  if (!isDomainError(error, 'too_large')) throw error;
  throw new DomainError('upstream', ENV_TOO_LARGE.code, ENV_TOO_LARGE.message, {}, { cause: error });
};

const toHost = (agent: LiveAgent): { host: string } => ({ host: agent.host ?? '' });

const now = (): string => new Date().toISOString();
