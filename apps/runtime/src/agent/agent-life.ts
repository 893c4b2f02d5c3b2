import type { BoxedGuest } from './boxed-guest.js';

/** What an agent does on this host. */
export type Life =
  { readonly at: 'resting' | 'starting' } | { readonly at: 'awake' | 'frozen'; readonly guest: BoxedGuest };

/** How an agent stands at one moment. */
export interface AgentStanding {
  readonly epoch: number;
  /** The guest while it is awake. */
  readonly awake: BoxedGuest | null;
}
