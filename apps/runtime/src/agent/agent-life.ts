import type { BoxedGuest } from './boxed-guest.js';

/** What an agent does on this host. */
export type Life =
  { readonly at: 'resting' | 'starting' } | { readonly at: 'awake' | 'frozen'; readonly guest: BoxedGuest };
