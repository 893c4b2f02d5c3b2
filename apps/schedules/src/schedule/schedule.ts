import type { Personal } from '@berth/personal-data';

/** An entry as its agent published it. Times are ISO 8601 with milliseconds. */
export type PublishedEntry = {
  readonly id: string;
  readonly cron: string | null;
  readonly tz: string | null;
  readonly nextRunAt: string | null;
  /** About `aboutPrompt(agentId)`. */
  readonly prompt: Personal<string> | null;
};

export type Source = 'polled' | 'pushed';

export type NextWake = {
  readonly nextWakeAt: string | null;
  /** Whether `nextWakeAt` derives from the entry's `nextRunAt`, possibly postponed; otherwise it derives from `cron`. */
  readonly isRunAt: boolean;
};

export type FiringError = {
  readonly code: string;
  readonly message: string;
};

export type SchedulesPublished = {
  readonly type: 'SchedulesPublished';
  readonly agentId: string;
  readonly accountId: string;
  readonly source: Source;
  /** A hash of the list; keyed if the agent belongs to an end user. */
  readonly digest: string;
  readonly entries: readonly (PublishedEntry & NextWake)[];
  /** The earliest of all entries. */
  readonly nextWakeAt: string | null;
  readonly at: string;
};

/** Appended before the firing is carried out. */
export type ScheduleFired = {
  readonly type: 'ScheduleFired';
  readonly agentId: string;
  readonly accountId: string;
  readonly entryId: string;
  readonly dueAt: string;
  /** The `nextRunAt` that fired and never fires again; null: a time of `cron`. */
  readonly runAt: string | null;
  readonly deliveryId: string;
  readonly entryNextWakeAt: string | null;
  /** The earliest of all entries. */
  readonly nextWakeAt: string | null;
  readonly at: string;
};

export type FiringEnded = {
  readonly type: 'FiringEnded';
  readonly agentId: string;
  readonly accountId: string;
  readonly entryId: string;
  readonly deliveryId: string;
  /** Whether the agent was woken and, if there is a prompt, got it. */
  readonly ran: boolean;
  readonly error: FiringError | null;
  readonly at: string;
};

/** The program of the agent got the prompt of a firing, whatever it answered. */
export type PromptHandedOver = {
  readonly type: 'PromptHandedOver';
  readonly agentId: string;
  readonly accountId: string;
  readonly entryId: string;
  readonly deliveryId: string;
  readonly at: string;
};

export type SchedulesForgotten = {
  readonly type: 'SchedulesForgotten';
  readonly agentId: string;
  readonly accountId: string;
  readonly at: string;
};

export type ScheduleEvent =
  SchedulesPublished | ScheduleFired | PromptHandedOver | FiringEnded | SchedulesForgotten;

export interface Entry extends PublishedEntry, NextWake {
  readonly lastRunAt: string | null;
  readonly lastError: (FiringError & { readonly at: string }) | null;
}

/** A firing that has begun and not ended. */
export interface Firing {
  readonly deliveryId: string;
  readonly entryId: string;
  readonly prompt: Personal<string> | null;
  readonly at: string;
  /** The `lastRunAt` that the entry gets back if this firing is refused. */
  readonly ranBefore: string | null;
}

/** An entry id and a time. */
export interface EntryTime {
  readonly id: string;
  readonly at: string;
}

/** The schedules of one agent. */
export interface Schedules {
  readonly status: 'none' | 'live' | 'gone';
  readonly accountId: string;
  readonly source: Source;
  readonly entries: readonly Entry[];
  /** The digest of the list that was polled last; null before the first poll. */
  readonly polledDigest: string | null;
  readonly firings: readonly Firing[];
  /** The last `KEPT_FIRED` times `nextRunAt` that have fired. */
  readonly fired: readonly EntryTime[];
  /** The ids that fired in the minute before the last firing, with the times that were due. */
  readonly lastMinute: readonly EntryTime[];
}

export const NO_SCHEDULES: Schedules = {
  status: 'none',
  accountId: '',
  source: 'pushed',
  entries: [],
  polledDigest: null,
  firings: [],
  fired: [],
  lastMinute: [],
};

/**
 * More than the entries of one list. Timers fire only entries that the projection shows, and it also has all earlier
 * firings; so it can lack at most the firings of one list.
 */
const KEPT_FIRED = 200;
export const MINUTE_MS = 60_000;

/** The time of the earliest wake of the entries. ISO 8601 times of the same format sort as text. */
export const earliest = (entries: readonly Pick<NextWake, 'nextWakeAt'>[]): string | null =>
  entries
    .map(({ nextWakeAt }) => nextWakeAt)
    .filter((at) => at !== null)
    .sort()[0] ?? null;

/** Applies one event. */
export const evolve = (schedules: Schedules, event: ScheduleEvent): Schedules => {
  switch (event.type) {
    case 'SchedulesPublished':
      return published(schedules, event);
    case 'ScheduleFired':
      return fired(schedules, event);
    case 'PromptHandedOver':
      // The firing ends with the next event.
      return schedules;
    case 'FiringEnded':
      return ended(schedules, event);
    case 'SchedulesForgotten':
      return { ...NO_SCHEDULES, status: 'gone', accountId: event.accountId };
  }
};

const published = (schedules: Schedules, event: SchedulesPublished): Schedules => {
  const before = new Map(schedules.entries.map((entry) => [entry.id, entry]));
  return {
    ...schedules,
    status: 'live',
    accountId: event.accountId,
    source: event.source,
    polledDigest: event.source === 'polled' ? event.digest : schedules.polledDigest,
    entries: event.entries.map((entry) => {
      const { lastRunAt = null, lastError = null } = before.get(entry.id) ?? {};
      return { ...entry, lastRunAt, lastError };
    }),
  };
};

const fired = (schedules: Schedules, event: ScheduleFired): Schedules => {
  const { entryId, deliveryId, dueAt, runAt, at } = event;
  const next: NextWake = { nextWakeAt: event.entryNextWakeAt, isRunAt: false };
  const { prompt = null, lastRunAt = null } = schedules.entries.find(({ id }) => id === entryId) ?? {};
  const firing: Firing = { deliveryId, entryId, prompt, at, ranBefore: lastRunAt };
  const isRecent = (one: EntryTime): boolean =>
    one.id !== entryId && Date.parse(one.at) + MINUTE_MS > Date.parse(at);
  return {
    ...schedules,
    entries: schedules.entries.map((entry) =>
      entry.id === entryId ? { ...entry, ...next, lastRunAt: at } : entry,
    ),
    firings: [...schedules.firings, firing],
    fired:
      runAt === null ? schedules.fired : [...schedules.fired, { id: entryId, at: runAt }].slice(-KEPT_FIRED),
    lastMinute: [...schedules.lastMinute.filter(isRecent), { id: entryId, at: dueAt }],
  };
};

const ended = (schedules: Schedules, { deliveryId, entryId, ran, error, at }: FiringEnded): Schedules => {
  const firing = schedules.firings.find((one) => one.deliveryId === deliveryId);
  const outcome = (entry: Entry): Entry => ({
    ...entry,
    lastRunAt: ran || firing === undefined ? entry.lastRunAt : firing.ranBefore,
    lastError: error === null ? null : { ...error, at },
  });
  return {
    ...schedules,
    entries: schedules.entries.map((entry) => (entry.id === entryId ? outcome(entry) : entry)),
    firings: schedules.firings.filter((one) => one.deliveryId !== deliveryId),
  };
};
