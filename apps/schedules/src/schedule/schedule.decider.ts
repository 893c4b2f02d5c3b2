import { DomainError, isoTime, type Decider } from '@berth/kernel';
import { cronTimesOf } from '../cron/known-cron-times.js';
import {
  earliest,
  evolve,
  MINUTE_MS,
  NO_SCHEDULES,
  type FiringError,
  type NextWake,
  type PublishedEntry,
  type ScheduleEvent,
  type ScheduleFired,
  type Schedules,
  type Source,
} from './schedule.js';

/** An entry and a time at which it is due. */
export interface DueTime {
  readonly agentId: string;
  readonly entryId: string;
  /** Milliseconds since the Unix epoch. */
  readonly dueAt: number;
  /** Derives from the other three. */
  readonly deliveryId: string;
}

/** Times in commands are milliseconds since the Unix epoch. */
export type ScheduleCommand =
  | {
      readonly type: 'Publish';
      readonly agentId: string;
      readonly accountId: string;
      readonly source: Source;
      readonly digest: string;
      readonly entries: readonly PublishedEntry[];
      /** The entries whose `nextRunAt` has already fired, by id, according to the projection. */
      readonly firedBefore: readonly string[];
      readonly now: number;
    }
  | {
      readonly type: 'Fire';
      readonly agentId: string;
      readonly due: readonly DueTime[];
      readonly now: number;
    }
  | {
      readonly type: 'End';
      readonly agentId: string;
      readonly deliveryId: string;
      readonly ran: boolean;
      readonly error: FiringError | null;
      readonly now: number;
    }
  | {
      readonly type: 'Forget';
      readonly agentId: string;
      readonly accountId: string;
      readonly now: number;
    };

type CommandOf<Type extends ScheduleCommand['type']> = Extract<ScheduleCommand, { readonly type: Type }>;

const decide = (command: ScheduleCommand, schedules: Schedules): readonly ScheduleEvent[] => {
  switch (command.type) {
    case 'Publish':
      return publish(command, schedules);
    case 'Fire':
      return fire(command, schedules);
    case 'End':
      return end(command, schedules);
    case 'Forget':
      return forget(command, schedules);
  }
};

/** Decides which list of an agent is in force, when its entries fire, and that each time fires once. */
export const scheduleDecider: Decider<Schedules, ScheduleCommand, ScheduleEvent> = {
  initial: NO_SCHEDULES,
  decide,
  evolve,
};

const publish = (command: CommandOf<'Publish'>, schedules: Schedules): readonly ScheduleEvent[] => {
  if (schedules.status === 'gone')
    throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
  const { agentId, accountId, source, digest, now } = command;
  if (source === 'polled' && isLastPolled(command, schedules)) return [];
  const entries = command.entries.map((entry) => ({
    ...entry,
    ...firstWake(entry, command, schedules),
  }));
  const nextWakeAt = earliest(entries);
  return [
    { type: 'SchedulesPublished', agentId, accountId, source, digest, entries, nextWakeAt, at: isoTime(now) },
  ];
};

/** Before its first list, a program counts as one that had an empty list: that clears nothing. */
const isLastPolled = ({ digest, entries }: CommandOf<'Publish'>, { polledDigest }: Schedules): boolean =>
  polledDigest === null ? entries.length === 0 : digest === polledDigest;

const firstWake = (
  entry: PublishedEntry,
  { firedBefore, now }: CommandOf<'Publish'>,
  schedules: Schedules,
): NextWake => {
  const before = schedules.entries.find(({ id }) => id === entry.id);
  // Otherwise a list that is published again at the last moment would lose the time that is due.
  if (before !== undefined && isSameTime(before, entry))
    return { nextWakeAt: before.nextWakeAt, isRunAt: before.isRunAt };
  const runAt = millisOf(entry.nextRunAt);
  const hasFired =
    firedBefore.includes(entry.id) ||
    schedules.fired.some(({ id, at }) => id === entry.id && at === entry.nextRunAt);
  const isRunAt = runAt !== null && !hasFired;
  const due = isRunAt ? Math.max(runAt, now) : cronAfter(entry, Math.max(now, runAt ?? now));
  const last = schedules.lastMinute.find(({ id }) => id === entry.id);
  return { nextWakeAt: timeOf(notWithinMinute(due, millisOf(last?.at ?? null))), isRunAt };
};

const isSameTime = (one: PublishedEntry, other: PublishedEntry): boolean =>
  one.cron === other.cron && one.tz === other.tz && one.nextRunAt === other.nextRunAt;

const fire = ({ due, now }: CommandOf<'Fire'>, schedules: Schedules): readonly ScheduleEvent[] => {
  const fired: ScheduleFired[] = [];
  let state = schedules;
  for (const one of due) {
    const event = fireOne(one, now, state);
    if (event === undefined) continue;
    fired.push(event);
    state = evolve(state, event);
  }
  return fired;
};

const fireOne = (
  { agentId, entryId, dueAt, deliveryId }: DueTime,
  now: number,
  { accountId, entries }: Schedules,
): ScheduleFired | undefined => {
  const entry = entries.find(({ id }) => id === entryId);
  // The clock may have been set back, and another list published, since the timer read that the entry is due.
  if (entry === undefined || millisOf(entry.nextWakeAt) !== dueAt || now < dueAt) return undefined;
  const runAt = entry.isRunAt ? entry.nextRunAt : null;
  const entryNextWakeAt = timeOf(notWithinMinute(cronAfter(entry, now), dueAt));
  const others = entries.filter(({ id }) => id !== entryId);
  return {
    type: 'ScheduleFired',
    agentId,
    accountId,
    entryId,
    dueAt: isoTime(dueAt),
    runAt,
    deliveryId,
    entryNextWakeAt,
    nextWakeAt: earliest([...others, { nextWakeAt: entryNextWakeAt }]),
    at: isoTime(now),
  };
};

const end = (command: CommandOf<'End'>, schedules: Schedules): readonly ScheduleEvent[] => {
  const { agentId, deliveryId, ran, error, now } = command;
  const firing = schedules.firings.find((one) => one.deliveryId === deliveryId);
  if (firing === undefined) return [];
  const { entryId, prompt } = firing;
  const ids = { agentId, accountId: schedules.accountId, entryId, deliveryId, at: isoTime(now) };
  const ended: ScheduleEvent = { type: 'FiringEnded', ...ids, ran, error };
  return ran && prompt !== null ? [{ type: 'PromptHandedOver', ...ids }, ended] : [ended];
};

const forget = (
  { agentId, accountId, now }: CommandOf<'Forget'>,
  { status }: Schedules,
): readonly ScheduleEvent[] =>
  status === 'gone' ? [] : [{ type: 'SchedulesForgotten', agentId, accountId, at: isoTime(now) }];

const cronAfter = ({ cron, tz }: PublishedEntry, instant: number): number | null =>
  cron === null ? null : cronTimesOf(cron, tz).after(instant);

/** One id fires at most once a minute: a time within a minute of the last one moves to its end. */
const notWithinMinute = (due: number | null, last: number | null): number | null =>
  due === null || last === null ? due : Math.max(due, last + MINUTE_MS);

const millisOf = (at: string | null): number | null => (at === null ? null : Date.parse(at));
const timeOf = (millis: number | null): string | null => (millis === null ? null : isoTime(millis));
