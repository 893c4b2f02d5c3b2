import type { ConsumerInfo, StoredMsg } from '@nats-io/jetstream';
import { EVENT_HEADERS, positionOf } from './event-headers.js';
import type { LogMark } from './log-mark.js';

/** Before the position of the first event. */
const BEFORE_LOG = -1n;

/**
 * Whether `first`, the first message of a stream, is not the next event of its context after `floor` (null: of the whole
 * log), so that the stream lacks events in between. `unknown`: the result for a message of an earlier version, which does
 * not say what it follows.
 */
export const isGap = (first: StoredMsg, floor: LogMark | null, unknown: boolean): boolean => {
  const position = floor?.position ?? BEFORE_LOG;
  const at = positionOf(first.header);
  if (at === null || at <= position) return false;
  const follows = first.header.get(EVENT_HEADERS.follows);
  if (follows === '') return unknown && first.seq > 1;
  return (/^\d{1,20}$/.test(follows) ? BigInt(follows) : BEFORE_LOG) > position;
};

/** The description of a consumer that waits until its relay has published what the stream lacks. */
export const lackNote = (after: LogMark | null): string =>
  after === null ? 'lacks events' : `lacks events after ${after.position} ${after.eventId}`;

/** The mark after which a consumer lacks events, null for the start of the log; undefined if it lacks none. */
export const lackOf = ({ config }: ConsumerInfo): LogMark | null | undefined => {
  const note = /^lacks events(?: after (?<position>\d{1,20}) (?<eventId>\S{1,64}))?$/.exec(
    config.description ?? '',
  );
  if (note === null) return undefined;
  const { position, eventId } = note.groups ?? {};
  return position === undefined || eventId === undefined ? null : { position: BigInt(position), eventId };
};
