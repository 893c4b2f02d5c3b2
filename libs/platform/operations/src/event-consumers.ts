import type { EventConsumer } from '@berth/messaging';

/** The event consumers of a service, ordered by their durable names. */
export class EventConsumers {
  readonly #consumers: EventConsumer[] = [];

  constructor(consumers: readonly EventConsumer[] = []) {
    for (const consumer of consumers) this.add(consumer);
  }

  add(consumer: EventConsumer): void {
    if (this.find(consumer.durable) !== undefined)
      throw new Error(`There are two event consumers with the name ${consumer.durable}.`);
    this.#consumers.push(consumer);
    this.#consumers.sort((a, b) => (a.durable < b.durable ? -1 : 1));
  }

  all(): readonly EventConsumer[] {
    return this.#consumers;
  }

  find(durable: string): EventConsumer | undefined {
    return this.#consumers.find((consumer) => consumer.durable === durable);
  }
}
