import type { Schedules } from './schemas.generated.js';

export type * from './schemas.generated.js';

/** A wake that an agent has scheduled. */
export type ScheduledWake = Schedules['items'][number];
