import type { GuestEvent } from '@berth/guest-protocol';
import { pause } from '@berth/supervision';
import type { GuestClient } from './guest-client.js';

const RETRY_PAUSE_MS = 500;

/**
 * Passes each event of the guest to `onEvent` once, until `signal` aborts. Abort before freezing the guest: it does not
 * respond while frozen.
 */
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
      // The end of the guest is handled elsewhere; all other errors are temporary.
      await pause(RETRY_PAUSE_MS, signal);
    }
  }
};
