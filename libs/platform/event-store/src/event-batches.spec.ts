import { describe, expect, it } from 'vitest';
import { eventually } from '@berth/testing';
import { batchesOf, type EventBatch } from './event-batches.js';
import type { RecordedEvent, SubscriptionItem } from './event-store.js';

const event = (n: number): SubscriptionItem => ({
  kind: 'event',
  event: { position: BigInt(n) } as unknown as RecordedEvent,
});

/** A source that counts the items taken from it. */
const sourceOf = (items: readonly SubscriptionItem[], end?: Error | 'waits') => {
  const state = { taken: 0 };
  async function* source(): AsyncGenerator<SubscriptionItem> {
    for (const item of items) {
      state.taken++;
      yield item;
    }
    if (end === 'waits') await new Promise(() => undefined);
    else if (end !== undefined) throw end;
  }
  return { state, items: source() };
};

const collect = async (batches: AsyncIterable<EventBatch>): Promise<EventBatch[]> => {
  const all: EventBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
};

describe('batches', () => {
  it('contain a single event, without delay, when no other arrives', async () => {
    const batches = batchesOf(sourceOf([event(1)], 'waits').items, 100);
    expect((await batches.next()).value).toMatchObject({ position: 1n, caughtUp: false });
  });

  it('gather the items that arrive while the reader is busy, in order and up to the maximum', async () => {
    const source = sourceOf(
      Array.from({ length: 95 }, (_, n) => event(n)),
      'waits',
    );
    const batches = batchesOf(source.items, 10);
    const sizes: number[] = [];
    const positions: bigint[] = [];
    while (positions.length < 95) {
      const { value } = await batches.next();
      if (value === undefined) break;
      sizes.push(value.events.length);
      positions.push(...value.events.map(({ position }) => position));
      await eventually(() => source.state.taken >= Math.min(95, positions.length + 10));
    }
    expect(positions).toEqual(Array.from({ length: 95 }, (_, n) => BigInt(n)));
    expect(Math.max(...sizes)).toBe(10);
    expect(sizes.length).toBeLessThan(15);
  });

  it('take no further items from the source once two full batches wait for the reader', async () => {
    const source = sourceOf(Array.from({ length: 1_000 }, (_, n) => event(n)));
    const batches = batchesOf(source.items, 10);
    await batches.next();
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    expect(source.state.taken).toBeLessThanOrEqual(32);
    await batches.return();
  });

  it('report the position of their last item and whether the end of the log was reached', async () => {
    const source = sourceOf([event(1), { kind: 'checkpoint', position: 7n }, { kind: 'caughtUp' }]);
    const all = await collect(batchesOf(source.items, 10));
    expect(all.findLast(({ position }) => position !== null)?.position).toBe(7n);
    expect(all.at(-1)?.caughtUp).toBe(true);
    expect(all.flatMap(({ events }) => events)).toHaveLength(1);
  });

  it('contain the items that arrived before a failure, which is thrown after the last batch', async () => {
    const all: EventBatch[] = [];
    const reading = (async () => {
      for await (const batch of batchesOf(sourceOf([event(1), event(2)], new Error('broken')).items, 10))
        all.push(batch);
    })();
    await expect(reading).rejects.toThrow('broken');
    expect(all.flatMap(({ events }) => events)).toHaveLength(2);
  });

  it('wait `gatherMs` for further items after the first', async () => {
    const items: SubscriptionItem[] = [event(1)];
    const rest = Promise.withResolvers<void>();
    async function* source(): AsyncGenerator<SubscriptionItem> {
      yield* items;
      await rest.promise;
      yield event(2);
      await new Promise(() => undefined);
    }
    const batches = batchesOf(source(), 10, 30);
    const first = batches.next();
    setImmediate(rest.resolve);
    expect((await first).value?.events).toHaveLength(2);
  });
});
