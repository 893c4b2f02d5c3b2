import type { AgentView, CreateAgent } from '@berth/contracts/agents';
import { deriveId, DomainError, isDomainError } from '@berth/kernel';
import type { Logger } from '@berth/telemetry';
import type { AgentRow } from '../agent-list/agent-row.js';
import { viewOf } from '../agent-list/agent-view.js';
import type { EnvVault } from '../env/env-vault.js';
import type { Placement } from '../host/placement.js';
import type { Holder } from '../reservation/reservation.js';
import type { Reservations } from '../reservation/reservations.js';
import type { TemplateCatalogue } from '../templates/template-catalogue.js';
import { systemOrigin, type AgentCommandHandler } from './agent.command-handler.js';
import type { AgentLifecycle } from './agent-lifecycle.js';
import { timesAbandoned, type Agent, type Profile } from './agent.js';
import { within } from './within.js';
import { claimsOf } from './claims.js';
import { CreationOvertaken } from './creation-overtaken.js';

const DEFAULT_IDLE_TTL_SECONDS = 900;

/** How often one call begins anew because other tries of its command abandon each other. */
const MAX_ATTEMPTS = 5;

/** What creating an agent uses besides the log. */
export interface CreationParts {
  readonly reservations: Reservations;
  readonly templates: TemplateCatalogue;
  readonly placement: Placement;
  readonly vault: EnvVault;
  /** A failed creation is undone before the answer, but the answer waits no longer than this from the call on. */
  readonly undoneWithinMs: number;
}

/** One attempt of one command. */
interface Attempt extends Holder {
  readonly request: CreateAgent;
  readonly profile: Profile;
}

const EVERY_ATTEMPT = 2 ** 31 - 1;

type Undone = 'created' | 'undone';

/**
 * Creates agents. The agent's id derives from the command's, so every try of a command is about the same agent. A try that
 * fails abandons its attempt in the agent's stream first: from then on nothing of that attempt can create the agent, and
 * what it claimed and stored is released. The next try of the command is another attempt (ADR 15).
 */
export class AgentCreation {
  private readonly undoing = new Set<Promise<unknown>>();

  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly parts: CreationParts,
    private readonly log: Logger,
  ) {}

  /** Errors: invalid `unknown_template`; conflict `agent_name_taken`, `external_id_taken`; unavailable without a host. */
  async create(request: CreateAgent): Promise<AgentView> {
    const profile = this.profile(request);
    const agentId = deriveId('agt', request.commandId);
    const begun = Date.now();
    for (let tried = 0; tried < MAX_ATTEMPTS; tried++) {
      const agent = await this.agents.load(agentId);
      if (wasCreated(agent)) return this.firstView(agentId);
      const attempt = { agentId, attempt: timesAbandoned(agent), request, profile };
      try {
        return viewOf(await this.make(attempt), null);
      } catch (error) {
        const undone = await this.undoInTime(attempt, error, begun);
        if (undone === 'created') return this.firstView(agentId);
        if (!(error instanceof CreationOvertaken)) throw error;
      }
    }
    throw new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');
  }

  /** Whether no agent is left behind a reservation; an overdue creation is ended for good. */
  async isGone(holder: Holder, overdue: boolean, accountId: string): Promise<boolean> {
    const agent = await this.agents.load(holder.agentId);
    if (agent.status === 'live') return false;
    if (wasCreated(agent) || holder.attempt < timesAbandoned(agent)) return true;
    return (
      overdue && (await this.abandon({ ...holder, attempt: timesAbandoned(agent) }, accountId)) === 'undone'
    );
  }

  /** A creation that no host has announced: its agent exists all the same, or its try ended midway. */
  async settleOverdue(agentId: string, accountId: string): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (wasCreated(agent)) {
      if (agent.status === 'live') await this.parts.placement.settled(agentId);
      else await this.parts.vault.forgetCreated(agentId, EVERY_ATTEMPT);
    } else await this.abandon({ agentId, attempt: timesAbandoned(agent) }, accountId);
  }

  /** Waits for what is being undone behind answers. */
  async settle(): Promise<void> {
    while (this.undoing.size > 0) await Promise.allSettled(this.undoing);
  }

  /** Returns the new agent's row. */
  private async make(attempt: Attempt): Promise<AgentRow> {
    const { agentId, request, profile } = attempt;
    const { reservations, placement, vault } = this.parts;
    for (const claim of claimsOf(profile)) await reservations.claim(claim, attempt, request);
    const { memMb } = profile.resources;
    const host = await placement.place({ ...attempt, accountId: profile.accountId, memMb });
    await vault.putCreated(agentId, attempt.attempt, request.env);
    const at = new Date().toISOString();
    const { row, isFirst } = await this.agents.decide(
      agentId,
      { type: 'Create', agentId, profile, host, attempt: attempt.attempt, at },
      request,
    );
    void this.lifecycle.drive(agentId);
    return isFirst && row !== null ? row : this.firstRow(agentId);
  }

  private async firstView(agentId: string): Promise<AgentView> {
    void this.lifecycle.drive(agentId);
    return viewOf(await this.firstRow(agentId), null);
  }

  private async firstRow(agentId: string): Promise<AgentRow> {
    const row = await this.agents.loadFirstRow(agentId);
    if (row === null) throw new Error(`The stream of ${agentId} has no creation.`);
    return row;
  }

  /** Past the time for the answer the undoing goes on behind it. */
  private async undoInTime(attempt: Attempt, error: unknown, begun: number): Promise<Undone> {
    // The name is claimed first, so this try has made nothing.
    if (isDomainError(error) && error.code === 'agent_name_taken') return 'undone';
    const work: Promise<Undone> = this.undo(attempt)
      .catch((failure: unknown): Undone => {
        // What is left is found by the next try, by whatever meets the name, and by the timers.
        this.log.warn(
          { agentId: attempt.agentId, err: failure },
          'a failed creation could not be undone yet',
        );
        return 'undone';
      })
      .finally(() => this.undoing.delete(work));
    this.undoing.add(work);
    return within(Math.max(0, begun + this.parts.undoneWithinMs - Date.now()), work, 'undone');
  }

  /** The append may have been carried out although its answer was lost: the stream decides. */
  private async undo({ agentId, attempt, request, profile }: Attempt): Promise<Undone> {
    const holder = { agentId, attempt };
    const releases = async (): Promise<void> => {
      for (const claim of claimsOf(profile)) await this.parts.reservations.release(claim, holder, request);
    };
    const outcome = await this.abandon(holder, request.accountId, releases);
    if (outcome === 'created') void this.lifecycle.drive(agentId);
    return outcome;
  }

  /** Ends the attempt in the log first, then takes back what it left elsewhere. */
  private async abandon(
    { agentId, attempt }: Holder,
    accountId: string,
    alsoTakeBack: () => Promise<void> = () => Promise.resolve(),
  ): Promise<Undone> {
    const agent = await this.agents.handle(
      agentId,
      { type: 'AbandonCreation', agentId, attempt, at: new Date().toISOString() },
      systemOrigin(accountId, `${agentId}/abandon/${String(attempt)}`),
    );
    if (wasCreated(agent)) return 'created';
    await Promise.all([this.parts.vault.forgetCreated(agentId, attempt), alsoTakeBack()]);
    return 'undone';
  }

  private profile(request: CreateAgent): Profile {
    const template = this.parts.templates.get(request.templateId);
    const { accountId, name, templateId, externalId, externalUserId, instructions, labels, idleTtlSeconds } =
      request;
    return {
      accountId,
      name,
      templateId,
      externalId,
      externalUserId,
      instructions,
      labels,
      idleTtlSeconds: idleTtlSeconds ?? DEFAULT_IDLE_TTL_SECONDS,
      resources: { ...template.resources, ...request.resources },
    };
  }
}

const wasCreated = ({ status }: Agent): boolean =>
  status === 'live' || status === 'deleting' || status === 'deleted';
