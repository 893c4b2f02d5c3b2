import { setTimeout as delay } from 'node:timers/promises';
import type { GuestEvent } from '@berth/guest-protocol';
import type { GuestClient } from './guest-client.js';

const RETRY_PAUSE_MS = 500;

/** Tells each event of the guest once, from now until `signal` aborts. Frozen guests answer nobody: abort before that. */
export const watchEvents = async (
  guest: GuestClient,
  from: { last: number },
  signal: AbortSignal,
  onEvent: (event: GuestEvent) => void,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      const { events, last } = await guest.events(from.last, signal);
      from.last = last;
      for (const event of events) if (!signal.aborted) onEvent(event);
    } catch {
      // The end of the guest is noticed elsewhere; everything else passes.
      await delay(RETRY_PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
};
