import { WEBHOOK_LIMITS } from '@berth/contracts/delivery';

const HOUR_MS = 3_600_000;

/** How long a message waits for an agent that cannot take it, in milliseconds. */
export const HELD_FOR_MS = WEBHOOK_LIMITS.heldHours * HOUR_MS;

/** The error code of a delivery that waited for `HELD_FOR_MS`. */
export const HELD_TOO_LONG = `agent_unavailable_for_${String(WEBHOOK_LIMITS.heldHours)}h`;
