import { createHash } from 'node:crypto';
import { CommandHandler } from '@berth/event-store';
import { DomainError, stepOf, type CommandEnvelope } from '@berth/kernel';
import { SNAPSHOT_VERSIONS, type AgentStreams } from '../agent/agent-streams.js';
import { CreationOvertaken } from '../agent/creation-overtaken.js';
import {
  isHeldBy,
  NameHeld,
  reservationCodec,
  reservationDecider,
  type Holder,
  type Reservation,
  type ReservationCommand,
  type ReservationEvent,
} from './reservation.js';

/** A reservation that changes hands so often meanwhile is told as taken. */
const MAX_EVICTIONS = 5;

export interface Claim {
  readonly kind: 'agentName' | 'agentExternalId';
  readonly accountId: string;
  readonly value: string;
}

/**
 * Whether the holder of a reservation is gone. A creation that may still be under way is ended for good when it is
 * `overdue`, and counts as present when not.
 */
export type IsGone = (holder: Holder, overdue: boolean, accountId: string) => Promise<boolean>;

type ReservationHandler = CommandHandler<Reservation, ReservationCommand, ReservationEvent>;

/** Keeps names and external ids unique in an account across any number of processes. */
export class Reservations {
  private readonly handlers: Record<Claim['kind'], ReservationHandler>;

  constructor(
    { store, snapshots }: AgentStreams,
    private readonly isGone: IsGone,
    /** A creation that has no agent to show for it after so long is taken to have died midway. */
    private readonly unfinishedAfterMs: number,
  ) {
    const handler = (kind: Claim['kind']): ReservationHandler =>
      new CommandHandler({
        store,
        decider: reservationDecider,
        codec: reservationCodec(kind),
        cacheSize: 1_000,
        snapshots: { table: snapshots, version: SNAPSHOT_VERSIONS.reservation },
      });
    this.handlers = { agentName: handler('agentName'), agentExternalId: handler('agentExternalId') };
  }

  /**
   * The same holder may claim any number of times. Errors: conflict `agent_name_taken` or `external_id_taken` with
   * `agentId`.
   */
  async claim(claim: Claim, holder: Holder, envelope: CommandEnvelope): Promise<void> {
    let evicted: Holder | null = null;
    for (let evictions = 0; ; evictions++) {
      const at = new Date().toISOString();
      const step = `${claim.kind}:${String(holder.attempt)}:${nameOf(evicted)}`;
      try {
        const command = { type: 'Reserve', holder, evicted, at } as const;
        const { state } = await this.handlers[claim.kind].handle(
          reservationIdOf(claim),
          command,
          stepOf(envelope, step),
        );
        // An earlier try of this attempt may have claimed it and lost it since.
        if (!isHeldBy(state, holder)) throw new CreationOvertaken();
        return;
      } catch (error) {
        if (!(error instanceof NameHeld)) throw error;
        if (evictions === MAX_EVICTIONS) throw taken(claim, error.holder);
        evicted = await this.evict(error, claim, holder);
      }
    }
  }

  /** `attempt` null releases it for whichever attempt of the agent holds it. */
  async release(
    claim: Claim,
    holder: { readonly agentId: string; readonly attempt: number | null },
    envelope: CommandEnvelope,
  ): Promise<void> {
    const { agentId, attempt } = holder;
    const step = `release:${claim.kind}:${String(attempt ?? 'any')}`;
    await this.handlers[claim.kind].handle(
      reservationIdOf(claim),
      { type: 'Release', agentId, attempt, at: new Date().toISOString() },
      stepOf(envelope, step),
    );
  }

  /** Returns the holder that may be passed over. */
  private async evict({ holder: held, since }: NameHeld, claim: Claim, holder: Holder): Promise<Holder> {
    // A later attempt of the same command holds it.
    if (held.agentId === holder.agentId) throw new CreationOvertaken();
    const overdue = Date.now() - Date.parse(since) >= this.unfinishedAfterMs;
    if (!(await this.isGone(held, overdue, claim.accountId))) throw taken(claim, held);
    return held;
  }
}

const taken = (claim: Claim, { agentId }: Holder): DomainError =>
  claim.kind === 'agentName'
    ? new DomainError('conflict', 'agent_name_taken', 'An agent of this name exists; choose another name.', {
        agentId,
      })
    : new DomainError('conflict', 'external_id_taken', 'An agent with this externalId exists.', { agentId });

const nameOf = (holder: Holder | null): string =>
  holder === null ? '' : `${holder.agentId}:${String(holder.attempt)}`;

/** Opaque: a name can be personal and must not be readable from a stream's name. */
export const reservationIdOf = (claim: Claim): string =>
  createHash('sha256').update(`${claim.accountId}\0${claim.value}`).digest('hex').slice(0, 40);
