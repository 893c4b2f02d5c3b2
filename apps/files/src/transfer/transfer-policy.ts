import type { Actor } from '@berth/kernel';

/**
 * The reach of a caller's downloads: a caller that may deploy agents can read the whole agent, others only its volume.
 */
export const downloadReach = (actor: Actor): 'agent' | 'volume' =>
  actor.kind === 'key' ? 'agent' : 'volume';
