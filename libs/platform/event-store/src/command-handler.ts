import { DomainError, type Actor, type Decider } from '@berth/kernel';
import { pause } from '@berth/persistence';
import { injectTrace, requestContext } from '@berth/telemetry';
import { streamName, type EventCodec } from './event-codec.js';
import { eventId } from './event-id.js';
import { RevisionConflict, type EventMetadata, type EventStore, type NewEvent } from './event-store.js';
import { KeyedQueue } from './keyed-queue.js';
import { LruCache } from './lru-cache.js';
import { emptyStream, foldStream, type StreamState } from './stream-state.js';

/** Who sends a command, and under which id; the same id sent twice acts once. */
export interface CommandMeta {
  readonly commandId: string;
  readonly accountId: string;
  readonly actor: Actor;
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
  /** How often a command is decided anew because somebody else wrote first; default 5. */
  readonly maxConflicts?: number;
  /** How many streams' states are kept in memory; default 1,000. */
  readonly cacheSize?: number;
}

/**
 * Takes commands to a decider and its events to the log: read, decide, append at the exact revision with event ids that
 * follow from stream, command id and index. Commands on one stream run one after the other in this process; other
 * processes are met as conflicts and decided anew.
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
  handle(id: string, command: Command, meta: CommandMeta): Promise<Handled<State, Event>> {
    const stream = streamName(this.options.codec.category, id);
    return this.#queue.run(stream, () => this.#handle(stream, command, meta));
  }

  async #handle(stream: string, command: Command, meta: CommandMeta): Promise<Handled<State, Event>> {
    for (let conflicts = 0; ; conflicts++) {
      const before = await this.#read(stream);
      const replayed = await this.#replay(stream, before, meta.commandId);
      if (replayed !== undefined) return replayed;
      const events = this.options.decider.decide(command, before.state);
      if (events.length === 0) {
        return { state: before.state, events, revision: before.revision, position: null, replayed: false };
      }
      try {
        return await this.#append(stream, before, events, meta);
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
        if (conflicts >= this.#maxConflicts) throw tooBusy(error);
        await pause(Math.random() * 10 * (conflicts + 1));
      }
    }
  }

  async #append(
    stream: string,
    before: StreamState<State>,
    events: readonly Event[],
    meta: CommandMeta,
  ): Promise<Handled<State, Event>> {
    const { store, decider, codec } = this.options;
    const metadata = describe(meta);
    const scope = `${stream}:${meta.commandId}`;
    const stored = events.map((event, index): NewEvent => {
      const { type, data } = codec.toStored(event);
      return { id: eventId(scope, index), type, data, metadata };
    });
    const { revision, position } = await store.append(stream, stored, before.revision ?? 'no_stream');
    // The cache keeps what was read. The next read folds what really stands there: when this very command was also
    // sent elsewhere, the store may have recognised the other's events as these.
    const state = events.reduce((current, event) => decider.evolve(current, event), before.state);
    return { state, events, revision, position, replayed: false };
  }

  async #read(stream: string): Promise<StreamState<State>> {
    const { store, decider, codec } = this.options;
    const cached = this.#cache.get(stream) ?? emptyStream(decider);
    const from = cached.revision === null ? {} : { from: cached.revision + 1n };
    const current = foldStream(decider, codec, cached, await store.read(stream, from));
    // A slower reader must not put back what a faster one has passed.
    const newest = this.#cache.get(stream)?.revision ?? -1n;
    if ((current.revision ?? -1n) > newest) this.#cache.set(stream, current);
    return current;
  }

  async #replay(
    stream: string,
    { state, revision, commands }: StreamState<State>,
    commandId: string,
  ): Promise<Handled<State, Event> | undefined> {
    const trace = commands.get(commandId);
    if (trace === undefined) return undefined;
    const recorded = await this.options.store.read(stream, { from: trace.first });
    const events = recorded
      .filter(({ metadata }) => metadata.causationId === commandId)
      .map(({ type, data }) => this.options.codec.fromStored({ type, data }));
    return { state, events, revision, position: trace.position, replayed: true };
  }
}

const describe = ({ commandId, accountId, actor }: CommandMeta): EventMetadata => {
  const { traceparent } = injectTrace();
  return {
    correlationId: requestContext.current()?.requestId ?? commandId,
    causationId: commandId,
    ...(traceparent === undefined ? {} : { traceparent }),
    accountId,
    actor,
  };
};

const tooBusy = (cause: unknown): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'Try again shortly.', {}, { cause });
