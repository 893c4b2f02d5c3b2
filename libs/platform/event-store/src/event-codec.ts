import type { EventData } from './event-store.js';

/** An event in the shape it is stored in. */
export interface StoredEvent {
  readonly type: string;
  readonly data: EventData;
}

/** How one decider's events are stored. */
export interface EventCodec<Event> {
  /** First part of the stream's name, without a dash: `agent` for `agent-agt_…`. */
  readonly category: string;
  toStored(event: Event): StoredEvent;
  /** Understands every shape that was ever stored (upcasts), and throws for what it does not know. */
  fromStored(stored: StoredEvent): Event;
}

/** The stream of one thing. */
export const streamName = (category: string, id: string): string => `${category}-${id}`;
