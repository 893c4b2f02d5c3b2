import type { Decider } from '@berth/kernel';
import type { EventCodec } from './event-codec.js';
import type { EventStore, RecordedEvent } from './event-store.js';
import { Snapshots, type SnapshotOptions } from './snapshots.js';
import { emptyStream, foldStream, type FoldedEvent, type StreamState } from './stream-state.js';

/** How streams of a category are read and folded. */
export interface StreamLoaderOptions<State, Command, Event> {
  readonly store: EventStore;
  readonly decider: Decider<State, Command, Event>;
  readonly codec: EventCodec<Event>;
  readonly snapshots?: SnapshotOptions;
}

/**
 * Reads and folds streams. With snapshots, loading a long stream takes its newest events and one row of the table: the
 * newest events come first, because they are all that a short stream has, and usually include the snapshot's event.
 */
export class StreamLoader<State, Command, Event> {
  readonly #snapshots: Snapshots<State> | undefined;

  constructor(private readonly options: StreamLoaderOptions<State, Command, Event>) {
    const { codec, snapshots } = options;
    this.#snapshots = snapshots && new Snapshots(codec.category, snapshots);
  }

  /** The state of a stream without events. */
  get empty(): StreamState<State> {
    return emptyStream(this.options.decider);
  }

  /** Loads the whole stream. */
  async load(stream: string): Promise<StreamState<State>> {
    return this.#snapshots === undefined
      ? this.fold(this.empty, await this.options.store.read(stream))
      : this.#loadByEnd(stream, this.#snapshots);
  }

  /**
   * Loads what follows `known`, an earlier state of the stream. Returns undefined if the log does not have the last event
   * of that state: it was replaced, or restored from a backup.
   */
  async continue(stream: string, known: StreamState<State>): Promise<StreamState<State> | undefined> {
    return this.follow(known, await this.options.store.read(stream, { from: known.revision ?? 0n }));
  }

  /** Folds those of `events` that follow `known`; undefined if its last event is not among them. */
  follow(known: StreamState<State>, events: readonly RecordedEvent[]): StreamState<State> | undefined {
    const last = events.findIndex(({ revision, id }) => revision === known.revision && id === known.eventId);
    return last === -1 ? undefined : this.fold(known, events.slice(last + 1));
  }

  fold(from: StreamState<State>, events: readonly FoldedEvent[]): StreamState<State> {
    return foldStream(this.options.decider, this.options.codec, from, events);
  }

  /** Stores a snapshot of `current` in the background when one is due; returns the state to cache. */
  keep(stream: string, current: StreamState<State>): StreamState<State> {
    return this.#snapshots?.keep(stream, current) ?? current;
  }

  async #loadByEnd(stream: string, snapshots: Snapshots<State>): Promise<StreamState<State>> {
    const { store } = this.options;
    const newest = await store.readLast(stream, Number(snapshots.every) + 1);
    if (newest.length <= snapshots.every) return this.fold(this.empty, newest);
    const snapshot = await snapshots.find(stream);
    if (snapshot !== undefined) {
      const [last, ...later] = await this.#from(stream, snapshot.revision ?? 0n, newest);
      if (snapshots.belongsTo(snapshot, last)) return this.fold(snapshot, later);
    }
    return this.fold(this.empty, await store.read(stream));
  }

  /** The events from `revision` on; reads them only if they are not among the newest ones. */
  async #from(
    stream: string,
    revision: bigint,
    newest: readonly RecordedEvent[],
  ): Promise<readonly RecordedEvent[]> {
    const [first] = newest;
    if (first !== undefined && first.revision <= revision)
      return newest.filter((event) => event.revision >= revision);
    return this.options.store.read(stream, { from: revision });
  }
}
