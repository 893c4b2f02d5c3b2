import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStore } from '@berth/event-store';

/** A position of the event log and the id of the event there, which distinguishes this log from another one. */
export interface LogMark {
  readonly position: bigint;
  readonly eventId: string;
}

/** The part of the event store that compares a mark with the log. */
export type MarkedLog = Pick<EventStore, 'eventAt'>;

const AGAIN_AFTER_MS = 1_000;

export const isInLog = async (log: MarkedLog, { position, eventId }: LogMark): Promise<boolean> =>
  (await log.eventAt(position))?.id === eventId;

/** Like `!isInLog`, but reads twice: a missing event makes callers discard data, and a cluster node may lag. */
export const isMissingFromLog = async (log: MarkedLog, mark: LogMark): Promise<boolean> => {
  if (await isInLog(log, mark)) return false;
  await sleep(AGAIN_AFTER_MS);
  return !(await isInLog(log, mark));
};
