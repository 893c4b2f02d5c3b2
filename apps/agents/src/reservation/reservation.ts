import type { EventCodec } from '@berth/event-store';
import { DomainError, type Decider } from '@berth/kernel';

/** Names and external ids are unique in an account: whoever holds the reservation stream's last word holds the name. */
export type ReservationEvent =
  | { readonly type: 'NameReserved'; readonly data: { readonly agentId: string; readonly at: string } }
  | { readonly type: 'NameReleased'; readonly data: { readonly agentId: string; readonly at: string } };

export type Reservation =
  { readonly status: 'free' } | { readonly status: 'held'; readonly agentId: string; readonly since: string };

export type ReservationCommand =
  /** `evicted`: the holder that the caller found to be gone. */
  | {
      readonly type: 'Reserve';
      readonly agentId: string;
      readonly evicted: string | null;
      readonly at: string;
    }
  | { readonly type: 'Release'; readonly agentId: string; readonly at: string };

/** Thrown within the service when the name is held; the edge words it for names and for external ids. */
export const NAME_HELD = 'reservation_held';

const decide = (command: ReservationCommand, reservation: Reservation): readonly ReservationEvent[] => {
  const { agentId, at } = command;
  if (command.type === 'Release') {
    return reservation.status === 'held' && reservation.agentId === agentId
      ? [{ type: 'NameReleased', data: { agentId, at } }]
      : [];
  }
  if (reservation.status === 'held') {
    if (reservation.agentId === agentId) return [];
    if (reservation.agentId !== command.evicted) {
      throw new DomainError('conflict', NAME_HELD, 'The name is taken.', {
        agentId: reservation.agentId,
        since: reservation.since,
      });
    }
  }
  return [{ type: 'NameReserved', data: { agentId, at } }];
};

const evolve = (_: Reservation, event: ReservationEvent): Reservation =>
  event.type === 'NameReserved'
    ? { status: 'held', agentId: event.data.agentId, since: event.data.at }
    : { status: 'free' };

export const reservationDecider: Decider<Reservation, ReservationCommand, ReservationEvent> = {
  initial: { status: 'free' },
  decide,
  evolve,
};

const isReservationEvent = (stored: { readonly type: string }): stored is ReservationEvent =>
  stored.type === 'NameReserved' || stored.type === 'NameReleased';

/** Streams `agentName-<hash>` and `agentExternalId-<hash>`. */
export const reservationCodec = (
  category: 'agentName' | 'agentExternalId',
): EventCodec<ReservationEvent> => ({
  category,
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isReservationEvent(stored))
      throw new Error(`A reservation stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
});
