import { createHash } from 'node:crypto';
import { DomainError, stepOf, type CommandEnvelope } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { CreationAttempts } from '../agent/creation-attempts.js';
import { CreationOvertaken } from '../agent/creation-overtaken.js';
import { CreationTiming } from '../agent/creation-timing.js';
import { isHeldBy, NameHeld, type Holder, type ReservationCategory } from './reservation.js';
import { AgentExternalIdStreams, AgentNameStreams, AgentOfEndUserStreams } from './reservation.streams.js';

/** A claim evicts at most this many holders; then it is refused. */
const MAX_EVICTIONS = 5;

export interface Claim {
  readonly kind: ReservationCategory;
  readonly accountId: string;
  readonly value: string;
}

/** Keeps names and external ids unique in an account across any number of processes. */
@Injectable()
export class Reservations {
  private readonly streams: Record<Claim['kind'], ReservationStreams>;

  constructor(
    agentName: AgentNameStreams,
    agentExternalId: AgentExternalIdStreams,
    agentOfEndUser: AgentOfEndUserStreams,
    @Inject(CreationAttempts) private readonly attempts: Pick<CreationAttempts, 'isGone'>,
    private readonly timing: CreationTiming,
  ) {
    this.streams = { agentName, agentExternalId, agentOfEndUser };
  }

  /**
   * The same holder may claim any number of times. Errors: conflict `agent_name_taken` or `external_id_taken` with
   * `agentId`; `AgentOfEndUserExists`; `CreationOvertaken` when another attempt of the same command holds the name.
   */
  async claim(claim: Claim, holder: Holder, envelope: CommandEnvelope): Promise<void> {
    let evicted: Holder | null = null;
    for (let evictions = 0; ; evictions++) {
      const at = new Date().toISOString();
      const step = `${claim.kind}:${String(holder.attempt)}:${nameOf(evicted)}`;
      try {
        const command = { type: 'Reserve', holder, evicted, at } as const;
        const { state } = await this.streams[claim.kind].handle(
          reservationIdOf(claim),
          command,
          stepOf(envelope, step),
        );
        // An earlier try of this attempt may have claimed the name and lost it since.
        if (!isHeldBy(state, holder)) throw new CreationOvertaken();
        return;
      } catch (error) {
        if (!(error instanceof NameHeld)) throw error;
        if (evictions === MAX_EVICTIONS) throw taken(claim, error.holder);
        evicted = await this.evict(error, claim, holder);
      }
    }
  }

  /** Returns the agent that holds the claim, and whether it is overdue if that agent does not exist; null if it is free. */
  async holderOf(claim: Claim): Promise<{ readonly agentId: string; readonly overdue: boolean } | null> {
    const { state } = await this.streams[claim.kind].load(reservationIdOf(claim));
    return state.status === 'free'
      ? null
      : { agentId: state.holder.agentId, overdue: this.isOverdue(state.since) };
  }

  /** `attempt` null releases the name for every attempt of the agent. */
  async release(
    claim: Claim,
    holder: { readonly agentId: string; readonly attempt: number | null },
    envelope: CommandEnvelope,
  ): Promise<void> {
    const { agentId, attempt } = holder;
    const step = `release:${claim.kind}:${String(attempt ?? 'any')}`;
    await this.streams[claim.kind].handle(
      reservationIdOf(claim),
      { type: 'Release', agentId, attempt, at: new Date().toISOString() },
      stepOf(envelope, step),
    );
  }

  /** Returns the holder if it may be evicted; throws otherwise. */
  private async evict({ holder: held, since }: NameHeld, claim: Claim, holder: Holder): Promise<Holder> {
    // A later attempt of the same command holds it.
    if (held.agentId === holder.agentId) throw new CreationOvertaken();
    if (!(await this.attempts.isGone(held, this.isOverdue(since), claim.accountId))) throw taken(claim, held);
    return held;
  }

  private isOverdue(since: string): boolean {
    return Date.now() - Date.parse(since) >= this.timing.unfinishedAfterMs;
  }
}

type ReservationStreams = AgentNameStreams | AgentExternalIdStreams | AgentOfEndUserStreams;

/** The end user has its agent. Internal: callers get that agent. */
export class AgentOfEndUserExists extends Error {
  override readonly name = 'AgentOfEndUserExists';
}

const taken = ({ kind }: Claim, { agentId }: Holder): Error => {
  switch (kind) {
    case 'agentName': {
      const message = 'An agent of this name exists; choose another name.';
      return new DomainError('conflict', 'agent_name_taken', message, { agentId });
    }
    case 'agentExternalId':
      return new DomainError('conflict', 'external_id_taken', 'An agent with this externalId exists.', {
        agentId,
      });
    case 'agentOfEndUser':
      return new AgentOfEndUserExists(agentId);
  }
};

const nameOf = (holder: Holder | null): string =>
  holder === null ? '' : `${holder.agentId}:${String(holder.attempt)}`;

/** A hash, because a name can be personal and must not be readable from a stream's name. */
export const reservationIdOf = (claim: Claim): string =>
  createHash('sha256').update(`${claim.accountId}\0${claim.value}`).digest('hex').slice(0, 40);
