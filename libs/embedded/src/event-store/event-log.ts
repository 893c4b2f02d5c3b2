import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { idKey, type ProposedEvent, type RecordedEvent } from './log-event.js';
import { StreamDirectory, type StreamEntry } from './stream-directory.js';

const PAGE_EVENTS = 256;
/* A page is read synchronously: this bounds its memory and how long it blocks the process. */
const PAGE_BYTES = 1_048_576;

/** Events read in one go. `complete`: there are no more in the requested direction and range. */
export interface EventPage {
  readonly events: readonly RecordedEvent[];
  readonly complete: boolean;
}

/** The direction in which a reader goes through the log or a stream. */
export type Direction = 'forwards' | 'backwards';

interface EventRow {
  readonly position: number;
  readonly stream_id: number;
  readonly revision: number;
  readonly event_id: Uint8Array;
  readonly type: string;
  readonly is_json: number;
  readonly created: number;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** The events table: appends rows (inside the caller's transaction) and reads pages. */
export class EventLog {
  readonly directory: StreamDirectory;
  #lastPosition: number;
  readonly #insert: StatementSync;
  readonly #selectId: StatementSync;
  readonly #selectLastPosition: StatementSync;
  readonly #selectPosition: StatementSync;
  readonly #selectRecent: StatementSync;
  readonly #stream: Record<Direction, StatementSync>;
  readonly #all: Record<Direction, StatementSync>;

  constructor(db: DatabaseSync) {
    this.directory = new StreamDirectory(db);
    this.#insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#selectId = db.prepare('SELECT event_id FROM events WHERE stream_id = ? AND revision = ?');
    this.#selectPosition = db.prepare('SELECT position FROM events WHERE stream_id = ? AND revision = ?');
    this.#selectLastPosition = db.prepare('SELECT max(position) AS position FROM events');
    this.#selectRecent = db.prepare(
      'SELECT event_id, stream_id, revision FROM events WHERE position > ? ORDER BY position',
    );
    const ofStream =
      'SELECT * FROM events WHERE stream_id = ? AND revision BETWEEN ? AND ? ORDER BY revision';
    this.#stream = {
      forwards: db.prepare(`${ofStream} LIMIT ?`),
      backwards: db.prepare(`${ofStream} DESC LIMIT ?`),
    };
    const ofAll = 'SELECT * FROM events WHERE position BETWEEN ? AND ? ORDER BY position';
    this.#all = { forwards: db.prepare(`${ofAll} LIMIT ?`), backwards: db.prepare(`${ofAll} DESC LIMIT ?`) };
    this.#lastPosition = this.#readLastPosition();
  }

  /** Position of the newest event, 0 while the log is empty. Positions start at 1 and have no gaps. */
  get lastPosition(): number {
    return this.#lastPosition;
  }

  /** Appends `event` to the stream. Only inside a write transaction. */
  append(stream: StreamEntry, revision: number, event: ProposedEvent, created: number): void {
    const position = this.#lastPosition + 1;
    const isJson = event.isJson ? 1 : 0;
    const { id, type, data, metadata } = event;
    this.#insert.run(position, stream.id, revision, id, type, isJson, created, data, metadata);
    this.#lastPosition = position;
    stream.lastRevision = revision;
  }

  /** Discards the cached state of a transaction that was rolled back. */
  forgetUncommitted(): void {
    this.directory.clear();
    this.#lastPosition = this.#readLastPosition();
  }

  idAt(stream: StreamEntry, revision: number): string | undefined {
    const id = this.#selectId.get(stream.id, revision)?.['event_id'];
    return id instanceof Uint8Array ? idKey(id) : undefined;
  }

  positionOf(stream: StreamEntry, revision: number): number | undefined {
    const row = this.#selectPosition.get(stream.id, revision);
    return row === undefined ? undefined : Number(row['position']);
  }

  /** Ids of the newest `count` events, oldest first. */
  *recentIds(count: number): Generator<{ id: string; streamId: number; revision: number }> {
    for (const row of this.#selectRecent.iterate(this.#lastPosition - count)) {
      const { event_id, stream_id, revision } = row as unknown as EventRow;
      yield { id: idKey(event_id), streamId: stream_id, revision };
    }
  }

  /** Events of one stream with revisions `first`..`last`, both inclusive. */
  readStream(stream: StreamEntry, first: number, last: number, direction: Direction): EventPage {
    return this.#page(this.#stream[direction].iterate(stream.id, first, last, PAGE_EVENTS));
  }

  /** Events of the whole log at positions `first`..`last`, both inclusive. */
  readAll(first: number, last: number, direction: Direction): EventPage {
    return this.#page(this.#all[direction].iterate(first, last, PAGE_EVENTS));
  }

  #page(rows: Iterable<unknown>): EventPage {
    const events: RecordedEvent[] = [];
    let bytes = 0;
    for (const row of rows) {
      const event = this.#toEvent(row as EventRow);
      events.push(event);
      bytes += event.data.length + event.metadata.length;
      if (bytes >= PAGE_BYTES) return { events, complete: false };
    }
    return { events, complete: events.length < PAGE_EVENTS };
  }

  #toEvent(row: EventRow): RecordedEvent {
    return {
      position: row.position,
      streamName: this.directory.nameOf(row.stream_id),
      revision: row.revision,
      id: row.event_id,
      type: row.type,
      isJson: row.is_json === 1,
      created: row.created,
      data: row.data,
      metadata: row.metadata,
    };
  }

  #readLastPosition(): number {
    return Number(this.#selectLastPosition.get()?.['position'] ?? 0);
  }
}
