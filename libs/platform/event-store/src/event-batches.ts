import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedEvent, SubscriptionItem } from './event-store.js';

/** The items that were available when the reader asked. */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  /** Every event up to this position is in this batch or an earlier one; null when unknown. */
  readonly position: bigint | null;
  /** The subscription had reached the end of the log. */
  readonly caughtUp: boolean;
}

/**
 * Gathers the items of a subscription while the reader is busy: batches hold single events under light load and up to
 * `most` under heavy load. After the first item of a batch it waits `gatherMs` for more. Holds at most twice `most`
 * items. To end the subscription, abort its signal.
 */
export async function* batchesOf(
  items: AsyncIterable<SubscriptionItem>,
  most: number,
  gatherMs = 0,
): AsyncGenerator<EventBatch, void, undefined> {
  const buffer = new ItemBuffer(most * 2);
  const pumping = buffer.fillFrom(items);
  try {
    for (;;) {
      const taken = await buffer.take(most, gatherMs);
      if (taken.length === 0) break;
      yield toBatch(taken);
    }
  } finally {
    buffer.abandon();
  }
  await pumping;
}

const toBatch = (items: readonly SubscriptionItem[]): EventBatch => {
  const events: RecordedEvent[] = [];
  let position: bigint | null = null;
  let caughtUp = false;
  for (const item of items) {
    if (item.kind === 'caughtUp') caughtUp = true;
    else if (item.kind === 'checkpoint') position = item.position;
    else {
      events.push(item.event);
      position = item.event.position;
    }
  }
  return { events, position, caughtUp };
};

class ItemBuffer {
  #items: SubscriptionItem[] = [];
  #ended = false;
  #error: Error | undefined;
  #filled: () => void = () => undefined;
  #drained: () => void = () => undefined;

  constructor(private readonly capacity: number) {}

  async fillFrom(items: AsyncIterable<SubscriptionItem>): Promise<void> {
    try {
      for await (const item of items) {
        if (this.#ended) return;
        this.#items.push(item);
        if (this.#items.length === 1) this.#filled();
        if (this.#items.length >= this.capacity)
          await new Promise<void>((resolve) => (this.#drained = resolve));
      }
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error));
    } finally {
      this.#ended = true;
      this.#filled();
    }
  }

  /** Up to `most` items, at least one; `[]` at the end. */
  async take(most: number, gatherMs: number): Promise<readonly SubscriptionItem[]> {
    if (this.#items.length === 0 && !this.#ended)
      await new Promise<void>((resolve) => (this.#filled = resolve));
    if (gatherMs > 0 && this.#items.length < most && !this.#ended) await delay(gatherMs);
    if (this.#items.length === 0 && this.#error !== undefined) throw this.#error;
    const taken = this.#items.slice(0, most);
    this.#items = this.#items.slice(most);
    this.#drained();
    return taken;
  }

  abandon(): void {
    this.#ended = true;
    this.#items = [];
    this.#drained();
  }
}
