import { DomainError, type Decider } from '@berth/kernel';
import { pause } from '@berth/persistence';
import { requestContext } from '@berth/telemetry';
import { streamName, type EventCodec } from './event-codec.js';
import { RevisionConflict, type EventStore } from './event-store.js';
import { KeyedQueue } from './keyed-queue.js';
import { LruCache } from './lru-cache.js';
import { asRead, newEvents, type CommandMeta } from './new-events.js';
import { emptyStream, foldStream, type StreamState } from './stream-state.js';

/** What the caller knows about the stream. */
export interface HandleOptions {
  /**
   * The id was just minted, so that nothing stands under it yet: nothing is read first. A hint, not a condition: a
   * stream that exists after all is met as a conflict, and the command is decided on what stands there.
   */
  readonly expectNew?: boolean;
}

/** What a command did. */
export interface Handled<State, Event> {
  readonly state: State;
  /** What the command caused: now, or (when `replayed`) the first time; `[]` when it was "already so". */
  readonly events: readonly Event[];
  /** Last revision of the stream that this answer knows; null when the stream does not exist. */
  readonly revision: bigint | null;
  /** Position of the command's last event, to wait for a projection by; null when it caused none. */
  readonly position: bigint | null;
  /** The command had been done before; nothing was written now. */
  readonly replayed: boolean;
}

/** What a command handler is made of. */
export interface CommandHandlerOptions<State, Command, Event> {
  readonly store: EventStore;
  readonly decider: Decider<State, Command, Event>;
  readonly codec: EventCodec<Event>;
  /** How often a command that was decided on a fresh read is decided anew because somebody wrote first; default 5. */
  readonly maxConflicts?: number;
  /** How many streams' states are kept in memory; default 1,000. */
  readonly cacheSize?: number;
}

/**
 * Takes commands to a decider and its events to the log: decide, append at the exact revision. Commands on one stream run
 * one after the other in this process; other processes are met as conflicts and decided anew on a fresh read.
 *
 * What is known of a stream without reading (its cached state, or that it is new) may be stale. A decision on it counts
 * only if the log takes its events at that very revision, which proves that nothing had been written since. A refusal and
 * "already so" prove nothing, so they are decided anew on a read.
 */
export class CommandHandler<State, Command, Event> {
  readonly #queue = new KeyedQueue();
  readonly #cache: LruCache<StreamState<State>>;
  readonly #maxConflicts: number;

  constructor(private readonly options: CommandHandlerOptions<State, Command, Event>) {
    this.#cache = new LruCache(options.cacheSize ?? 1_000);
    this.#maxConflicts = options.maxConflicts ?? 5;
  }

  /** The present state of one thing; `revision` null when nothing was ever written about it. */
  async load(id: string): Promise<{ state: State; revision: bigint | null }> {
    const { state, revision } = await this.#read(streamName(this.options.codec.category, id));
    return { state, revision };
  }

  /**
   * Does a command once. Throws what `decide` refuses with, `DomainError('unavailable', …)` when the log is away (the
   * command may have been done; send it again with the same id) or when others kept writing first.
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

  /** Tries on what is known; undefined when only a read can tell. */
  async #handleUnread(
    stream: string,
    command: Command,
    meta: CommandMeta,
    { expectNew = false }: HandleOptions,
  ): Promise<Handled<State, Event> | undefined> {
    const { decider } = this.options;
    const known = this.#cache.get(stream) ?? (expectNew ? emptyStream(decider) : undefined);
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
      if (before.commands.has(meta.commandId)) return this.#replay(stream, before, meta.commandId);
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
    if (requestContext.hasGivenUp(meta.commandId)) throw noLongerAwaited();
    const { store, decider, codec } = this.options;
    const stored = newEvents(codec, events, meta);
    // Before it is written: what cannot be read back must not be.
    const after = foldStream(decider, codec, before, asRead(stored, before.revision));
    const appended = await store.append(stream, stored, before.revision ?? 'no_stream').catch(orConflict);
    if (appended instanceof RevisionConflict) return appended;
    this.#keep(stream, after);
    return { ...appended, state: after.state, events, replayed: false };
  }

  async #read(stream: string): Promise<StreamState<State>> {
    const { store, decider, codec } = this.options;
    const cached = this.#cache.get(stream) ?? emptyStream(decider);
    const from = cached.revision === null ? {} : { from: cached.revision + 1n };
    const current = foldStream(decider, codec, cached, await store.read(stream, from));
    this.#keep(stream, current);
    return current;
  }

  /** `known` has the command. One read brings its events and what was written since. */
  async #replay(
    stream: string,
    known: StreamState<State>,
    commandId: string,
  ): Promise<Handled<State, Event>> {
    const { store, decider, codec } = this.options;
    const recorded = await store.read(stream, { from: known.commands.get(commandId) ?? 0n });
    const newer = recorded.filter(({ revision }) => revision > (known.revision ?? -1n));
    const { state, revision } = this.#keep(stream, foldStream(decider, codec, known, newer));
    const own = recorded.filter(({ metadata }) => metadata.causationId === commandId);
    const events = own.map(({ type, data }) => codec.fromStored({ type, data }));
    return { state, events, revision, position: own.at(-1)?.position ?? null, replayed: true };
  }

  /** A slower reader must not put back what a faster one has passed. */
  #keep(stream: string, current: StreamState<State>): StreamState<State> {
    const newest = this.#cache.get(stream)?.revision ?? -1n;
    if ((current.revision ?? -1n) > newest) this.#cache.set(stream, current);
    return current;
  }
}

/** The events a decision yields; none when it refuses, because then the log must be asked. */
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

const noLongerAwaited = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'The command came too late and was not begun.');
