import type { EventCodec, StoredEvent } from '@berth/event-store';
import type { Decider } from '@berth/kernel';

/** Counts the events of its stream, of any type. */
export const counterDecider: Decider<number, never, StoredEvent> = {
  initial: 0,
  decide: () => [],
  evolve: (count) => count + 1,
};

export const counterCodec: EventCodec<StoredEvent> = {
  category: 'benchCounter',
  toStored: (event) => event,
  fromStored: (stored) => stored,
};
