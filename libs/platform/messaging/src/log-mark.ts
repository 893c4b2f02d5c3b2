import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStore } from '@berth/event-store';

/** A position of the event log and what stood there: what tells a log from another one at the same position. */
export interface LogMark {
  readonly position: bigint;
  readonly eventId: string;
}

export type MarkedLog = Pick<EventStore, 'eventAt'>;

const AGAIN_AFTER_MS = 1_000;

export const isInLog = async (log: MarkedLog, { position, eventId }: LogMark): Promise<boolean> =>
  (await log.eventAt(position))?.id === eventId;

/** As `!isInLog`, read twice: much is thrown away when the event is missing, and a part of a cluster may lag. */
export const isMissingFromLog = async (log: MarkedLog, mark: LogMark): Promise<boolean> => {
  if (await isInLog(log, mark)) return false;
  await sleep(AGAIN_AFTER_MS);
  return !(await isInLog(log, mark));
};
