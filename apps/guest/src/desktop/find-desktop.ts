import { DomainError } from '@berth/kernel';
import type { Desktop } from './desktop.js';

/** Waits for the desktop if it is starting; undefined if it does not start. */
export type FindDesktop = (withinMs: number) => Promise<Desktop | undefined>;

/** The desktop of a computer is being started or ended; nothing was done. */
export const desktopUnavailable = (): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', 'The desktop is not running.', {}, { effect: 'none' });
