import { pause } from '@berth/supervision';
import {
  EventStore,
  PositionBeyondLog,
  RevisionConflict,
  type Appended,
  type ExpectedRevision,
  type NewEvent,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionItem,
} from './event-store.js';

const POLL_MS = 5;

/** An event log in the memory of this process, for unit tests. The contract of the port applies to it as well. */
export class MemoryEventStore extends EventStore {
  readonly #log: RecordedEvent[] = [];

  override read(stream: string, { from = 0n }: { readonly from?: bigint } = {}): Promise<RecordedEvent[]> {
    return Promise.resolve(this.#of(stream).filter(({ revision }) => revision >= from));
  }

  override readLast(stream: string, count: number): Promise<RecordedEvent[]> {
    return Promise.resolve(count === 0 ? [] : this.#of(stream).slice(-count));
  }

  override append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<Appended> {
    const present = this.#of(stream);
    const first = expected === 'no_stream' ? 0 : Number(expected) + 1;
    if (present.length !== first) return this.#appendedBefore(stream, events, expected);
    for (const event of events)
      this.#log.push({
        ...structuredClone(event),
        stream,
        revision: BigInt(this.#of(stream).length),
        position: BigInt(this.#log.length) * 100n,
        createdAt: new Date(),
      });
    return this.#appendedBefore(stream, events, expected);
  }

  override async *subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionItem, void, undefined> {
    const { from, categories, signal } = options;
    const head = this.#log.at(-1)?.position ?? null;
    if (from !== 'start' && from > (head ?? -1n)) throw new PositionBeyondLog(from, head);
    let next = this.#log.findIndex(({ position }) => from === 'start' || position > from);
    if (next === -1) next = this.#log.length;
    let caughtUp = false;
    while (!signal.aborted) {
      const event = this.#log[next];
      if (event !== undefined) {
        next++;
        if (categories.some((category) => event.stream.startsWith(`${category}-`)))
          yield { kind: 'event', event };
        continue;
      }
      if (!caughtUp) {
        const { position } = this.#log.at(-1) ?? {};
        if (position !== undefined) yield { kind: 'checkpoint', position };
        yield { kind: 'caughtUp' };
        caughtUp = true;
      }
      await pause(POLL_MS, signal);
    }
  }

  override eventAt(position: bigint): Promise<RecordedEvent | null> {
    return Promise.resolve(this.#log.find((event) => event.position === position) ?? null);
  }

  override head(): Promise<bigint | null> {
    return Promise.resolve(this.#log.at(-1)?.position ?? null);
  }

  override ping(): Promise<void> {
    return Promise.resolve();
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  #of(stream: string): RecordedEvent[] {
    return this.#log.filter((event) => event.stream === stream);
  }

  /**
   * Returns the end of these events if they follow the expected revision; otherwise rejects with `RevisionConflict`.
   */
  #appendedBefore(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<Appended> {
    const present = this.#of(stream);
    const first = expected === 'no_stream' ? 0 : Number(expected) + 1;
    const found = present.slice(first, first + events.length);
    const last = found.at(-1);
    const same = found.length === events.length && found.every(({ id }, index) => id === events[index]?.id);
    if (last !== undefined && same)
      return Promise.resolve({ revision: last.revision, position: last.position });
    return Promise.reject(new RevisionConflict(stream, expected, present.at(-1)?.revision ?? 'no_stream'));
  }
}
