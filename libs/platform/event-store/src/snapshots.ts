import { isDeepStrictEqual } from 'node:util';
import { detach } from '@berth/kernel';
import { metrics } from '@berth/telemetry';
import { withinTime } from './esdb-timeouts.js';
import type { RecordedEvent } from './event-store.js';
import type { SnapshotTable, StoredSnapshot } from './snapshot-table.js';
import type { StreamState } from './stream-state.js';

/** How `EventStreams` uses snapshots. */
export interface SnapshotOptions {
  readonly table: SnapshotTable;
  /**
   * Increase it with every change of the state's shape or of what the decider folds events into; snapshots of other
   * versions are ignored. The state must survive a round trip through JSON unchanged.
   */
  readonly version: number;
  /** A snapshot is stored after this many events; default 16. Shorter streams never touch the table. */
  readonly every?: number;
}

const EVERY = 16;
/** Without a snapshot the whole stream is read, so a slow database must not delay a load for longer. */
const FIND_WITHIN_MS = 500;
/**
 * A burst of loads must not take the connections that requests need; a snapshot that is skipped now is stored later.
 */
const MOST_SAVES_AT_ONCE = 2;

const NEVER = new AbortController().signal;

const outcomes = metrics.counter(
  'berth_stream_snapshots',
  'Snapshots of streams: used, missing, ignored (they do not belong to the log), saved, failed.',
  ['category', 'outcome'],
);

/** The snapshots of one category's streams. None of its failures reaches a caller: a snapshot is only a shortcut. */
export class Snapshots<State> {
  readonly every: bigint;
  #saving = 0;

  constructor(
    private readonly category: string,
    private readonly options: SnapshotOptions,
  ) {
    this.every = BigInt(options.every ?? EVERY);
  }

  /** Returns undefined when there is no usable snapshot or the database does not respond in time. */
  async find(stream: string): Promise<StreamState<State> | undefined> {
    const { table, version } = this.options;
    try {
      const stored = await withinTime(table.find({ stream, version }), FIND_WITHIN_MS, NEVER);
      if (stored === undefined) this.#count('missing');
      return stored === undefined ? undefined : decode<State>(stored);
    } catch (error) {
      this.#count('failed');
      table.log.warn({ err: error, category: this.category }, 'could not read a snapshot');
      return undefined;
    }
  }

  /** Whether the log has the snapshot's last event at the snapshot's revision. */
  belongsTo(snapshot: StreamState<State>, recorded: RecordedEvent | undefined): boolean {
    const belongs = recorded?.revision === snapshot.revision && recorded?.id === snapshot.eventId;
    this.#count(belongs ? 'used' : 'ignored');
    return belongs;
  }

  /** Stores a snapshot in the background when one is due; returns the state with a record of that. */
  keep(stream: string, current: StreamState<State>): StreamState<State> {
    const { revision, eventId } = current;
    if (revision === null || eventId === null) return current;
    const isDue = revision - (current.snapshotRevision ?? -1n) >= this.every;
    if (!isDue || this.#saving >= MOST_SAVES_AT_ONCE) return current;
    this.#saving++;
    setImmediate(() => detach(this.#save(stream, { ...current, revision, eventId })));
    return { ...current, snapshotRevision: revision };
  }

  async #save(stream: string, current: Written<State>): Promise<void> {
    const { table, version } = this.options;
    try {
      await table.save({ stream, version }, encode(current));
      this.#count('saved');
    } catch (error) {
      this.#count('failed');
      table.log.warn({ err: error, category: this.category }, 'could not store a snapshot');
    } finally {
      this.#saving--;
    }
  }

  #count(outcome: string): void {
    outcomes.inc({ category: this.category, outcome });
  }
}

type Written<State> = StreamState<State> & { readonly revision: bigint; readonly eventId: string };

interface Body<State> {
  readonly state: State;
  readonly commands: readonly (readonly [id: string, revision: string])[];
}

const encode = <State>({ state, revision, eventId, commands }: Written<State>): StoredSnapshot => {
  const body: Body<State> = { state, commands: [...commands].map(([id, first]) => [id, first.toString()]) };
  const text = JSON.stringify(body);
  // A state that changes on its way through the table would make decisions depend on the cache.
  if (!isDeepStrictEqual(JSON.parse(text), body))
    throw new Error('The state does not survive a round trip through JSON.');
  return { revision, eventId, body: text };
};

const decode = <State>({ revision, eventId, body }: StoredSnapshot): StreamState<State> => {
  const { state, commands } = JSON.parse(body) as Body<State>;
  return {
    state,
    revision,
    eventId,
    commands: new Map(commands.map(([id, first]) => [id, BigInt(first)])),
    snapshotRevision: revision,
  };
};
