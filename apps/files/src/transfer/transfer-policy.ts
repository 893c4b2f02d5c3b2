import type { Actor } from '@berth/kernel';

/** How far a caller's downloads reach: whoever may deploy an agent may read all of it, everybody else its volume only. */
export const downloadReach = (actor: Actor): 'agent' | 'volume' =>
  actor.kind === 'key' ? 'agent' : 'volume';
