import { DomainError, type Decider } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { requestContext } from '@berth/telemetry';
import { streamName, type EventCodec } from './event-codec.js';
import { RevisionConflict, type EventStore } from './event-store.js';
import { KeyedQueue } from './keyed-queue.js';
import { LruCache } from './lru-cache.js';
import { asRead, newEvents, type CommandMeta } from './new-events.js';
import type { SnapshotOptions } from './snapshots.js';
import { StreamLoader } from './stream-loader.js';
import type { StreamState } from './stream-state.js';

/** The caller's knowledge about the stream. */
export interface HandleOptions {
  /**
   * The id is new, so the stream is assumed to be empty and is not read first. This is a hint, not a condition: if the
   * stream exists after all, the append conflicts, and the command is decided again on its events.
   */
  readonly expectNew?: boolean;
}

/** The outcome of a command. */
export interface Handled<State, Event> {
  readonly state: State;
  /** The command's events, appended now or (if `replayed`) the first time; `[]` if there was nothing to change. */
  readonly events: readonly Event[];
  /** The revision of the stream that `state` reflects; null when the stream does not exist. */
  readonly revision: bigint | null;
  /** Position of the command's last event, for waiting until a projection contains it; null without events. */
  readonly position: bigint | null;
  /** The command had been executed before; nothing was written now. */
  readonly replayed: boolean;
}

/** Dependencies and bounds of `EventStreams`. */
export interface EventStreamsOptions<State, Command, Event> {
  readonly store: EventStore;
  readonly decider: Decider<State, Command, Event>;
  readonly codec: EventCodec<Event>;
  /** How often a command is decided again because another process wrote to the stream first; default 5. */
  readonly maxConflicts?: number;
  /** Number of streams whose states are cached in memory; default 1,000. */
  readonly cacheSize?: number;
  /** For streams that grow without bound: loading one takes no longer than loading a short stream. */
  readonly snapshots?: SnapshotOptions;
}

/**
 * The streams of one category, each the history of one entity. Executes commands: decides and appends the events at the
 * exact revision that the decision is based on. Commands on one stream run one after the other in this process. Other
 * processes cause conflicts, which are decided again after a read.
 *
 * The cached state of a stream, or the hint that it is new, may be stale. A decision based on it counts only if the log
 * accepts its events at that revision, which proves that the state was current. A refusal and a decision without events
 * append nothing and so prove nothing; they are decided again after a read.
 */
export class EventStreams<State, Command, Event> {
  readonly #queue = new KeyedQueue();
  readonly #cache: LruCache<StreamState<State>>;
  readonly #loader: StreamLoader<State, Command, Event>;
  readonly #maxConflicts: number;

  constructor(private readonly options: EventStreamsOptions<State, Command, Event>) {
    this.#cache = new LruCache(options.cacheSize ?? 1_000);
    this.#loader = new StreamLoader(options);
    this.#maxConflicts = options.maxConflicts ?? 5;
  }

  /** Returns the current state of an entity; `revision` is null when its stream does not exist. */
  async load(id: string): Promise<{ state: State; revision: bigint | null }> {
    const { state, revision } = await this.#read(streamName(this.options.codec.category, id));
    return { state, revision };
  }

  /** The state that this process has in memory, if any. Others may have written since. */
  known(id: string): State | undefined {
    return this.#cache.get(streamName(this.options.codec.category, id))?.state;
  }

  /**
   * As `load`, but without a read if this process has a state in memory. Others may have written since: only for decisions
   * that do no harm then.
   */
  async recall(id: string): Promise<{ state: State; revision: bigint | null }> {
    const known = this.#cache.get(streamName(this.options.codec.category, id));
    return known === undefined ? this.load(id) : { state: known.state, revision: known.revision };
  }

  /**
   * Executes a command once. Throws the error with which `decide` refuses, or `DomainError('unavailable', …)` when
   * other writers kept winning or the log is unavailable. In the latter case the command may have been executed; send
   * it again with the same id.
   */
  handle(
    id: string,
    command: Command,
    meta: CommandMeta,
    options: HandleOptions = {},
  ): Promise<Handled<State, Event>> {
    const stream = streamName(this.options.codec.category, id);
    return this.#queue.run(
      stream,
      async () =>
        (await this.#handleUnread(stream, command, meta, options)) ?? this.#handle(stream, command, meta),
    );
  }

  /** Decides on the cached state; returns undefined when the stream must be read first. */
  async #handleUnread(
    stream: string,
    command: Command,
    meta: CommandMeta,
    { expectNew = false }: HandleOptions,
  ): Promise<Handled<State, Event> | undefined> {
    const { decider } = this.options;
    const known = this.#cache.get(stream) ?? (expectNew ? this.#loader.empty : undefined);
    if (known === undefined) return undefined;
    if (known.commands.has(meta.commandId)) return this.#replay(stream, known, meta.commandId);
    const events = unlessRefused(() => decider.decide(command, known.state));
    if (events.length === 0) return undefined;
    const handled = await this.#append(stream, known, events, meta);
    return handled instanceof RevisionConflict ? undefined : handled;
  }

  async #handle(stream: string, command: Command, meta: CommandMeta): Promise<Handled<State, Event>> {
    for (let conflicts = 0; ; conflicts++) {
      const before = await this.#read(stream);
      if (before.commands.has(meta.commandId)) {
        const replayed = await this.#replay(stream, before, meta.commandId);
        if (replayed !== undefined) return replayed;
        continue;
      }
      const events = this.options.decider.decide(command, before.state);
      if (events.length === 0) {
        return { state: before.state, events, revision: before.revision, position: null, replayed: false };
      }
      const handled = await this.#append(stream, before, events, meta);
      if (!(handled instanceof RevisionConflict)) return handled;
      if (conflicts >= this.#maxConflicts) throw tooBusy(handled);
      await pause(Math.random() * 10 * (conflicts + 1));
    }
  }

  async #append(
    stream: string,
    before: StreamState<State>,
    events: readonly Event[],
    meta: CommandMeta,
  ): Promise<Handled<State, Event> | RevisionConflict> {
    if (requestContext.hasGivenUp(meta.commandId)) throw givenUp();
    const { store, codec } = this.options;
    const stored = newEvents(codec, events, meta);
    // Before the append: events that cannot be read back must not be written.
    const after = this.#loader.fold(before, asRead(stored, before.revision));
    const appended = await store.append(stream, stored, before.revision ?? 'no_stream').catch(orConflict);
    if (appended instanceof RevisionConflict) return appended;
    this.#keep(stream, after);
    return { ...appended, state: after.state, events, replayed: false };
  }

  async #read(stream: string): Promise<StreamState<State>> {
    const known = this.#cache.get(stream);
    const later = known && (await this.#loader.continue(stream, known));
    if (later !== undefined) return this.#keep(stream, later);
    if (known !== undefined) this.#forget(stream, known);
    return this.#keep(stream, await this.#loader.load(stream));
  }

  /**
   * `known` contains the command. One read returns its events and everything written since; undefined if the log no longer
   * has the last event of `known`.
   */
  async #replay(
    stream: string,
    known: StreamState<State>,
    commandId: string,
  ): Promise<Handled<State, Event> | undefined> {
    const { store, codec } = this.options;
    const recorded = await store.read(stream, { from: known.commands.get(commandId) ?? 0n });
    const current = this.#loader.follow(known, recorded);
    if (current === undefined) return this.#forget(stream, known);
    const { state, revision } = this.#keep(stream, current);
    const own = recorded.filter(({ metadata }) => metadata.causationId === commandId);
    const events = own.map(({ type, data }) => codec.fromStored({ type, data }));
    return { state, events, revision, position: own.at(-1)?.position ?? null, replayed: true };
  }

  /** The log does not have the last event of `known`: it was replaced, or restored from a backup. */
  #forget(stream: string, known: StreamState<State>): undefined {
    if (this.#cache.get(stream) === known) this.#cache.delete(stream);
  }

  /** A slow reader must not replace a newer state with an older one. */
  #keep(stream: string, current: StreamState<State>): StreamState<State> {
    const newest = this.#cache.get(stream)?.revision ?? -1n;
    if ((current.revision ?? -1n) <= newest) return current;
    const kept = this.#loader.keep(stream, current);
    this.#cache.set(stream, kept);
    return kept;
  }
}

/** Returns the events of a decision; `[]` if it refuses, because a refusal must be decided after a read. */
const unlessRefused = <Event>(decide: () => readonly Event[]): readonly Event[] => {
  try {
    return decide();
  } catch {
    return [];
  }
};

const orConflict = (error: unknown): RevisionConflict => {
  if (error instanceof RevisionConflict) return error;
  throw error;
};

const tooBusy = (cause: unknown): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'Try again shortly.', {}, { cause });

const givenUp = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'The command arrived too late and was not started.');
