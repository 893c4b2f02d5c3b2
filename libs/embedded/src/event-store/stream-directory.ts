import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BoundedMap } from './bounded-map.js';
import { metastreamOf, originalStreamOf, TOMBSTONE_REVISION } from './log-event.js';
import { METASTREAM_METADATA, parseStreamMetadata, type StreamMetadata } from './stream-metadata.js';

const REMEMBERED_STREAMS = 200_000;
const REMEMBERED_REOPENED = 1_000;
const REOPENED_HIDDEN_MS = 30;

/** A stream that was written to at least once. `lastRevision` is updated by every append. */
export interface StreamEntry {
  readonly id: number;
  readonly name: string;
  lastRevision: number;
}

/** Looks up streams by name and number, with their last revision and metadata; a bounded cache of the database. */
export class StreamDirectory {
  readonly #byName = new BoundedMap<string, StreamEntry>(REMEMBERED_STREAMS);
  readonly #nameById = new BoundedMap<number, string>(REMEMBERED_STREAMS);
  readonly #metadata = new BoundedMap<string, StreamMetadata>(REMEMBERED_STREAMS);
  readonly #hiddenUntil = new BoundedMap<string, number>(REMEMBERED_REOPENED);
  readonly #selectStream: StatementSync;
  readonly #selectName: StatementSync;
  readonly #selectData: StatementSync;
  readonly #insertStream: StatementSync;

  constructor(db: DatabaseSync) {
    this.#selectStream = db.prepare(
      `SELECT id, (SELECT max(revision) FROM events WHERE stream_id = streams.id) AS lastRevision
       FROM streams WHERE name = ?`,
    );
    this.#selectName = db.prepare('SELECT name FROM streams WHERE id = ?');
    this.#selectData = db.prepare('SELECT data FROM events WHERE stream_id = ? AND revision = ?');
    this.#insertStream = db.prepare('INSERT INTO streams (name) VALUES (?)');
  }

  find(name: string): StreamEntry | undefined {
    const cached = this.#byName.get(name);
    if (cached !== undefined) return cached;
    const row = this.#selectStream.get(name);
    if (row === undefined) return undefined;
    return this.#remember({ id: Number(row['id']), name, lastRevision: Number(row['lastRevision'] ?? -1) });
  }

  /** Returns the stream of that name, creating it if it is new. Only inside a write transaction. */
  intern(name: string): StreamEntry {
    const cached = this.find(name);
    if (cached !== undefined) return cached;
    const { lastInsertRowid } = this.#insertStream.run(name);
    return this.#remember({ id: Number(lastInsertRowid), name, lastRevision: -1 });
  }

  nameOf(id: number): string {
    const cached = this.#nameById.get(id);
    if (cached !== undefined) return cached;
    const name = String(this.#selectName.get(id)?.['name']);
    this.#nameById.set(id, name);
    return name;
  }

  /** The last revision as EventStoreDB sees it: a metadata stream is closed together with its stream. */
  lastRevisionOf(name: string): number {
    const original = originalStreamOf(name);
    if (original !== undefined && this.lastRevisionOf(original) === TOMBSTONE_REVISION) {
      return TOMBSTONE_REVISION;
    }
    return this.find(name)?.lastRevision ?? -1;
  }

  metadataOf(name: string): StreamMetadata {
    if (originalStreamOf(name) !== undefined) return METASTREAM_METADATA;
    const cached = this.#metadata.get(name);
    if (cached !== undefined) return cached;
    const data = this.rawMetadataOf(name);
    const metadata = data === undefined ? {} : parseStreamMetadata(data);
    this.#metadata.set(name, metadata);
    return metadata;
  }

  /** Body of the newest metadata event of the stream. */
  rawMetadataOf(name: string): Uint8Array | undefined {
    const metastream = this.find(metastreamOf(name));
    if (metastream === undefined) return undefined;
    const data = this.#selectData.get(metastream.id, metastream.lastRevision)?.['data'];
    return data instanceof Uint8Array ? data : undefined;
  }

  /** Just after a new append to a deleted stream, a read does not find the stream, as in EventStoreDB. */
  hideForAMoment(name: string): void {
    this.#hiddenUntil.set(name, performance.now() + REOPENED_HIDDEN_MS);
  }

  isHiddenForAMoment(name: string): boolean {
    const until = this.#hiddenUntil.get(name);
    return until !== undefined && performance.now() < until;
  }

  forgetMetadataOf(name: string): void {
    this.#metadata.delete(name);
  }

  /** Discards everything that a rolled-back transaction may have left in the cache. */
  clear(): void {
    this.#byName.clear();
    this.#nameById.clear();
    this.#metadata.clear();
  }

  #remember(entry: StreamEntry): StreamEntry {
    this.#byName.set(entry.name, entry);
    this.#nameById.set(entry.id, entry.name);
    return entry;
  }
}
