import { streamDeleted } from './errors.js';
import type { Direction, EventLog } from './event-log.js';
import type { Feed, FeedPage } from './feed.js';
import { type RecordedEvent, TOMBSTONE_REVISION } from './log-event.js';
import { firstVisibleRevision, isSoftDeleted, type StreamMetadata } from './stream-metadata.js';

const NOTHING: FeedPage = { items: [], complete: true };

/** Whether a reader can see any event of the stream. Throws a status when the stream is tombstoned. */
export function streamIsReadable(log: EventLog, stream: string): boolean {
  const last = log.directory.lastRevisionOf(stream);
  if (last === TOMBSTONE_REVISION) throw streamDeleted(stream);
  if (log.directory.isHiddenForAMoment(stream)) return false;
  return last >= 0 && !isSoftDeleted(log.directory.metadataOf(stream));
}

/** The events of one stream, except those that its metadata hides. */
export class StreamFeed implements Feed {
  #next: number;

  /** `from` and `until` are revisions, both inclusive; `until` applies only when reading forwards. */
  constructor(
    private readonly log: EventLog,
    readonly stream: string,
    from: number,
    private readonly direction: Direction,
    private readonly until: number = TOMBSTONE_REVISION,
  ) {
    this.#next = from;
  }

  next(): FeedPage {
    const { directory } = this.log;
    const lastRevision = directory.lastRevisionOf(this.stream);
    if (lastRevision === TOMBSTONE_REVISION) throw streamDeleted(this.stream);
    const entry = directory.find(this.stream);
    if (entry === undefined) return NOTHING;
    const metadata = directory.metadataOf(this.stream);
    const firstVisible = firstVisibleRevision(metadata, lastRevision);
    const forwards = this.direction === 'forwards';
    const first = forwards ? Math.max(this.#next, firstVisible) : firstVisible;
    const last = forwards ? Math.min(lastRevision, this.until) : Math.min(this.#next, lastRevision);
    if (first > last) return NOTHING;
    const { events, complete } = this.log.readStream(entry, first, last, this.direction);
    const newest = events.at(-1)?.revision;
    if (newest !== undefined) this.#next = forwards ? newest + 1 : newest - 1;
    return { items: withoutExpired(events, metadata), complete };
  }

  distanceToEnd(): number {
    return Math.max(0, this.log.directory.lastRevisionOf(this.stream) - this.#next + 1);
  }

  fallBehind(): readonly [] {
    return [];
  }
}

function withoutExpired(
  events: readonly RecordedEvent[],
  { maxAgeMs }: StreamMetadata,
): readonly RecordedEvent[] {
  if (maxAgeMs === undefined) return events;
  const oldest = Date.now() - maxAgeMs;
  return events.filter((event) => event.created >= oldest);
}
