import { encodeReadEvent } from './event-encoder.js';
import type { EventLog } from './event-log.js';
import type { RecordedEvent } from './log-event.js';

const LINK_TYPE = '$>';

/** Encodes an event for a reader; follows a link to another event if the reader wants that. */
export function encodeForReader(log: EventLog, event: RecordedEvent, resolveLinks: boolean): Buffer {
  if (!resolveLinks || event.type !== LINK_TYPE) return encodeReadEvent(event);
  return encodeReadEvent(findTarget(log, event), event);
}

/* The body of a link is `<revision>@<stream>`. Its target may have been deleted: then only the link is sent. */
function findTarget(log: EventLog, link: RecordedEvent): RecordedEvent | undefined {
  const [, revision, name] = /^(\d+)@(.+)$/su.exec(Buffer.from(link.data).toString('utf8')) ?? [];
  const stream = name === undefined ? undefined : log.directory.find(name);
  if (stream === undefined) return undefined;
  const wanted = Number(revision);
  return log.readStream(stream, wanted, wanted, 'forwards').events[0];
}
