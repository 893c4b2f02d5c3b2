import type { EnsureAwake } from '@berth/contracts/agents';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { DomainError, isDomainError, stepOf, type ErrorKind } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AgentActivity } from '../agent-list/agent-activity.js';
import { EndUserUses } from '../agent-list/end-user-uses.js';
import type { AdmittedWake } from './act.js';
import { Admission, ownerOf } from './admission.js';
import { AgentCommandHandler } from './agent.command-handler.js';
import type { AgentCommandOf } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import { AgentLifecycle, cannotStart, isHostUnavailable } from './agent-lifecycle.js';
import type { Agent, LiveAgent } from './agent.js';
import { wakeOf } from './wake-of.js';

const OVERALL_MS = 62_000;
/** An unreachable host has this long to return before the caller gets an error. */
const UNREACHABLE_MS = 2_500;
const RETRY_MS = 250;

/** An admission on the state of a sleeping agent that this process knows; undefined if the wake was refused on it. */
interface EarlyAdmission {
  readonly agent: LiveAgent;
  readonly admission: Promise<{ readonly wake: AdmittedWake | null } | undefined>;
}

/** Returns the host and epoch of an awake agent; wakes the agent first if it sleeps. Concurrent callers cause one start. */
@Injectable()
export class EnsureAwakeHandler {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly admission: Admission,
    private readonly activity: AgentActivity,
    private readonly endUsers: EndUserUses,
    private readonly log: Logger,
  ) {}

  /** Errors: see `agentsRequests`; unavailable `agent_unavailable` when the agent is not awake in time. */
  async handle(request: EnsureAwake): Promise<AwakeAgent> {
    const start = Date.now();
    const end = start + OVERALL_MS;
    let { refusedEpoch } = request;
    for (let round = 0; Date.now() < end; round++) {
      const early = round === 0 ? this.admitKnown(request) : undefined;
      const agent = await this.current(request, early);
      if (agent.life.state === 'running' && agent.epoch !== refusedEpoch) {
        // A suspension may have begun since the wake was admitted.
        if (round > 0) await this.admission.admit('use', ownerOf(agent.profile));
        return this.awake(agent, request);
      }
      const command = wakeCommand(agent, refusedEpoch);
      const admitted = await this.admitOnce(agent, command, request, early);
      if (request.asleep === 'refuse') throw asleep(agent, refusedEpoch);
      // The wake is in the log at a time at which it fitted.
      const admittedCommand = { ...command, at: now() };
      await this.agents.handle(request.agentId, admittedCommand, stepOf(request, `wake:${String(round)}`));
      refusedEpoch = null;
      const driven = await this.lifecycle.drive(request.agentId, admitted);
      if (driven.settled) continue;
      if (isHostUnavailable(driven.error)) throw cannotStart(driven.error);
      if (Date.now() - start > UNREACHABLE_MS && !isDomainError(driven.error, 'conflict'))
        throw tooLate(driven.error);
      await pause(RETRY_MS);
    }
    throw tooLate();
  }

  /**
   * Begins the admission of a wake on the state that this process knows, so that reading the log takes no further time.
   * Undefined unless the agent is asleep there.
   */
  private admitKnown(request: EnsureAwake): EarlyAdmission | undefined {
    const agent = this.agents.known(request.agentId);
    if (agent?.status !== 'live' || agent.life.state !== 'sleeping') return undefined;
    if (agent.profile.accountId !== request.accountId) return undefined;
    const admission = this.admit(agent, wakeCommand(agent, request.refusedEpoch), request).then(
      (wake) => ({ wake }),
      unlessRefused,
    );
    admission.catch(() => undefined);
    return { agent, admission };
  }

  /**
   * The agent as the log has it. An admitted wake begins without a read: the log accepts it on the newest state only. A
   * refusal has to be decided on the newest state, for the agent may be awake by now.
   */
  private async current(request: EnsureAwake, early: EarlyAdmission | undefined): Promise<LiveAgent> {
    if (early !== undefined && request.asleep !== 'refuse' && (await early.admission) !== undefined)
      return early.agent;
    return ofAccount(await this.agents.load(request.agentId), request.accountId);
  }

  private async admitOnce(
    agent: LiveAgent,
    command: AgentCommandOf<'Wake'>,
    request: EnsureAwake,
    early: EarlyAdmission | undefined,
  ): Promise<AdmittedWake | null> {
    const isSame = early?.agent.epoch === agent.epoch && early.agent.life.state === agent.life.state;
    const admitted = isSame ? await early.admission : undefined;
    return admitted === undefined ? await this.admit(agent, command, request) : admitted.wake;
  }

  /** Does not count a wake for a call that must not wake the agent. */
  private async admit(
    agent: LiveAgent,
    command: AgentCommandOf<'Wake'>,
    { attempt, asleep: whenAsleep }: EnsureAwake,
  ): Promise<AdmittedWake | null> {
    const owner = ownerOf(agent.profile);
    const wake = wakeOf(command, agent);
    if (wake === undefined) return await this.admission.admit('use', owner);
    return await this.admission.admit(whenAsleep === 'refuse' ? 'check' : 'wake', owner, {
      ...wake,
      ...(attempt === undefined ? {} : { attempt }),
    });
  }

  private awake(agent: LiveAgent, { kind }: EnsureAwake): AwakeAgent {
    const { agentId, epoch, guest, profile } = agent;
    // Not awaited, so that the caller can use the agent at once.
    this.activity
      .note(agent, kind)
      .catch((error: unknown) =>
        this.log.warn({ agentId, err: error }, 'could not record a use of the agent'),
      );
    const { endUserId } = profile.personal;
    // `lastActiveAt` of an end user is the last time its agents were used, and a schedule does not count as use.
    if (endUserId !== null && kind !== 'schedule') this.endUsers.note(endUserId);
    return { agentId, endUserId, host: agent.host ?? '', epoch, guest };
  }
}

const REFUSALS: ReadonlySet<string> = new Set<ErrorKind>(['forbidden', 'payment_required', 'exhausted']);

/** Rethrows an outage, which a second admission would only wait for again. */
const unlessRefused = (error: unknown): undefined => {
  if (isDomainError(error) && REFUSALS.has(error.kind)) return undefined;
  throw error;
};

const wakeCommand = ({ epoch }: LiveAgent, refusedEpoch: number | null): AgentCommandOf<'Wake'> => ({
  type: 'Wake',
  refusedEpoch,
  admittedAt: epoch,
  at: now(),
});

/** Returns `agent_asleep`; throws instead the error that a wake would cause, if any, for example `agent_stopped`. */
const asleep = (agent: LiveAgent, refusedEpoch: number | null): DomainError => {
  agentDecider.decide({ type: 'Wake', refusedEpoch, at: now() }, agent);
  return new DomainError('conflict', 'agent_asleep', 'The agent is asleep.');
};

const now = (): string => new Date().toISOString();

const tooLate = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The agent could not be woken; try again.',
    {},
    { cause },
  );

/** Returns the agent. Errors: not_found `agent_not_found`, also for another account's agent. */
export const ofAccount = (agent: Agent, accountId: string): LiveAgent => {
  if (agent.status === 'live' && agent.profile.accountId === accountId) return agent;
  throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
};
