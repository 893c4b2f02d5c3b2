import { createHash } from 'node:crypto';
import { CommandHandler, type EventStore } from '@berth/event-store';
import { DomainError, isDomainError, type CommandEnvelope } from '@berth/kernel';
import {
  NAME_HELD,
  reservationCodec,
  reservationDecider,
  type Reservation,
  type ReservationCommand,
  type ReservationEvent,
} from './reservation.js';

/** A holder that has no agent to show for it after so long is taken to have died midway. */
const UNFINISHED_AFTER_MS = 10_000;

export interface Claim {
  readonly kind: 'agentName' | 'agentExternalId';
  readonly accountId: string;
  readonly value: string;
  readonly agentId: string;
}

/** Whether the holder of a reservation is gone; one that never came to be is kept from coming. */
export type IsGone = (agentId: string) => Promise<boolean>;

/** Keeps names and external ids unique in an account across any number of processes. */
export class Reservations {
  private readonly handlers: Record<
    Claim['kind'],
    CommandHandler<Reservation, ReservationCommand, ReservationEvent>
  >;

  constructor(
    store: EventStore,
    private readonly isGone: IsGone,
  ) {
    const handler = (
      kind: Claim['kind'],
    ): CommandHandler<Reservation, ReservationCommand, ReservationEvent> =>
      new CommandHandler({
        store,
        decider: reservationDecider,
        codec: reservationCodec(kind),
        cacheSize: 1_000,
      });
    this.handlers = { agentName: handler('agentName'), agentExternalId: handler('agentExternalId') };
  }

  /** Errors: conflict `agent_name_taken` or `external_id_taken` with `agentId`. */
  async claim(claim: Claim, envelope: CommandEnvelope): Promise<void> {
    let evicted: string | null = null;
    for (;;) {
      const at = new Date().toISOString();
      try {
        await this.handlers[claim.kind].handle(
          streamId(claim),
          { type: 'Reserve', agentId: claim.agentId, evicted, at },
          stepOf(envelope, `${claim.kind}:${evicted ?? ''}`),
        );
        return;
      } catch (error) {
        evicted = await this.evictable(error, claim);
      }
    }
  }

  async release(claim: Claim, envelope: CommandEnvelope): Promise<void> {
    const at = new Date().toISOString();
    await this.handlers[claim.kind].handle(
      streamId(claim),
      { type: 'Release', agentId: claim.agentId, at },
      stepOf(envelope, `release:${claim.kind}`),
    );
  }

  private async evictable(error: unknown, claim: Claim): Promise<string> {
    if (!isDomainError(error, 'conflict') || error.code !== NAME_HELD) throw error;
    const holder = String(error.context['agentId']);
    const fresh = Date.now() - Date.parse(String(error.context['since'])) < UNFINISHED_AFTER_MS;
    if (!fresh && (await this.isGone(holder))) return holder;
    throw claim.kind === 'agentName'
      ? new DomainError(
          'conflict',
          'agent_name_taken',
          'An agent of this name exists; choose another name.',
          { agentId: holder },
        )
      : new DomainError('conflict', 'external_id_taken', 'An agent with this externalId exists.', {
          agentId: holder,
        });
  }
}

/** Opaque: a name can be personal and must not be readable from a stream's name. */
const streamId = (claim: Claim): string =>
  createHash('sha256').update(`${claim.accountId}\0${claim.value}`).digest('hex').slice(0, 40);

/** One command touches several streams; each step needs an id of its own. */
export const stepOf = (envelope: CommandEnvelope, step: string): CommandEnvelope => ({
  commandId: `${envelope.commandId}/${step}`,
  accountId: envelope.accountId,
  actor: envelope.actor,
});
