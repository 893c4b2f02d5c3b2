import type { EventCodec, EventData } from '@berth/event-store';
import type { Decider } from '@berth/kernel';

/**
 * One attempt to create an agent. A failed attempt is abandoned, and the next one of the same command has the next number,
 * so that remains of the earlier attempt are never mistaken for those of the later one.
 */
export interface Holder {
  readonly agentId: string;
  /** The number of earlier attempts, all of them abandoned. */
  readonly attempt: number;
}

/** Names and external ids are unique in an account: the last event of a reservation's stream shows who holds the name. */
export type ReservationEvent =
  | {
      readonly type: 'NameReserved.v2';
      readonly data: { readonly agentId: string; readonly attempt: number; readonly at: string };
    }
  | { readonly type: 'NameReleased'; readonly data: { readonly agentId: string; readonly at: string } };

export type Reservation =
  { readonly status: 'free' } | { readonly status: 'held'; readonly holder: Holder; readonly since: string };

export type ReservationCommand =
  /** `evicted`: a holder that loses the name, because the caller found that its agent does not exist. */
  | {
      readonly type: 'Reserve';
      readonly holder: Holder;
      readonly evicted: Holder | null;
      readonly at: string;
    }
  /** `attempt` null: any attempt of the agent. */
  | {
      readonly type: 'Release';
      readonly agentId: string;
      readonly attempt: number | null;
      readonly at: string;
    };

/** Another agent holds the name. Internal: `Reservations` turns it into the public error. */
export class NameHeld extends Error {
  override readonly name = 'NameHeld';

  constructor(
    readonly holder: Holder,
    readonly since: string,
  ) {
    super(`The name is held by ${holder.agentId}`);
  }
}

const decide = (command: ReservationCommand, reservation: Reservation): readonly ReservationEvent[] =>
  command.type === 'Reserve' ? reserve(command, reservation) : release(command, reservation);

const reserve = (
  { holder, evicted, at }: Extract<ReservationCommand, { type: 'Reserve' }>,
  reservation: Reservation,
): readonly ReservationEvent[] => {
  if (reservation.status === 'held') {
    const held = reservation.holder;
    if (isSame(held, holder)) return [];
    const ownEarlier = held.agentId === holder.agentId && held.attempt < holder.attempt;
    if (!ownEarlier && !(evicted !== null && isSame(held, evicted)))
      throw new NameHeld(held, reservation.since);
  }
  const { agentId, attempt } = holder;
  return [{ type: 'NameReserved.v2', data: { agentId, attempt, at } }];
};

const release = (
  { agentId, attempt, at }: Extract<ReservationCommand, { type: 'Release' }>,
  reservation: Reservation,
): readonly ReservationEvent[] => {
  if (reservation.status === 'free' || reservation.holder.agentId !== agentId) return [];
  if (attempt !== null && reservation.holder.attempt !== attempt) return [];
  return [{ type: 'NameReleased', data: { agentId, at } }];
};

const isSame = (one: Holder, other: Holder): boolean =>
  one.agentId === other.agentId && one.attempt === other.attempt;

export const isHeldBy = (reservation: Reservation, holder: Holder): boolean =>
  reservation.status === 'held' && isSame(reservation.holder, holder);

const evolve = (_: Reservation, event: ReservationEvent): Reservation => {
  if (event.type === 'NameReleased') return { status: 'free' };
  const { agentId, attempt, at } = event.data;
  return { status: 'held', holder: { agentId, attempt }, since: at };
};

export const reservationDecider: Decider<Reservation, ReservationCommand, ReservationEvent> = {
  initial: { status: 'free' },
  decide,
  evolve,
};

/** A claim on something unique: a name or external id in an account, or *the* agent of an end user. */
export type ReservationCategory = 'agentName' | 'agentExternalId' | 'agentOfEndUser';

/** Codec of the streams `agentName-<hash>`, `agentExternalId-<hash>` and `agentOfEndUser-<hash>`. */
export const reservationCodec = (category: ReservationCategory): EventCodec<ReservationEvent> => ({
  category,
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (stored.type === 'NameReserved') return firstShape(stored.data);
    if (!isReservationEvent(stored))
      throw new Error(`A reservation stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
});

const isReservationEvent = (stored: { readonly type: string }): stored is ReservationEvent =>
  stored.type === 'NameReserved.v2' || stored.type === 'NameReleased';

/** Version 1 did not count attempts. */
const firstShape = ({ agentId, at }: EventData): ReservationEvent => ({
  type: 'NameReserved.v2',
  data: { agentId: String(agentId), attempt: 0, at: String(at) },
});
