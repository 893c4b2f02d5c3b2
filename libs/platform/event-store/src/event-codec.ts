import type { EventData } from './event-store.js';

/** An event in its stored shape. */
export interface StoredEvent {
  readonly type: string;
  readonly data: EventData;
}

/** Converts the events of one decider to and from their stored shape. */
export interface EventCodec<Event> {
  /** The first part of the stream's name, without a dash: `agent` for `agent-agt_…`. */
  readonly category: string;
  toStored(event: Event): StoredEvent;
  /** Reads every shape that was ever stored (upcasting old ones); throws for unknown types. */
  fromStored(stored: StoredEvent): Event;
}

/** The name of an entity's stream. */
export const streamName = (category: string, id: string): string => `${category}-${id}`;
