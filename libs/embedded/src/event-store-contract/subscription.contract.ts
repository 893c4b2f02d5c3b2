import { END, START } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { numbered, numberedRange, numberOf, type StoreFixture, Subscriber } from './store-fixture.js';

/** The guarantees of a catch-up subscription. */
export function describeSubscriptions(store: () => StoreFixture): void {
  describe('subscribe to a stream', () => {
    it('delivers the existing events, reports that it caught up, and continues live', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 4));
      const subscriber = new Subscriber(store().client.subscribeToStream(stream, { fromRevision: START }));
      await subscriber.until(() => subscriber.caughtUp === 1, 'caughtUp');
      expect(subscriber.numbers).toEqual([0, 1, 2, 3, 4]);
      await store().append(stream, numberedRange(5, 6));
      await subscriber.until(() => subscriber.events.length === 7, 'live events');
      await subscriber.stop();
      expect(subscriber.numbers).toEqual([0, 1, 2, 3, 4, 5, 6]);
    });

    it('from a revision starts after it, from the end delivers only new events', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 4));
      const behind = new Subscriber(store().client.subscribeToStream(stream, { fromRevision: 2n }));
      const fresh = new Subscriber(store().client.subscribeToStream(stream, { fromRevision: END }));
      await behind.until(() => behind.caughtUp === 1, 'caughtUp');
      await fresh.until(() => fresh.caughtUp === 1, 'caughtUp');
      await store().append(stream, numbered(5));
      await behind.until(() => behind.events.length === 3, 'events');
      await fresh.until(() => fresh.events.length === 1, 'events');
      await Promise.all([behind.stop(), fresh.stop()]);
      expect([behind.numbers, fresh.numbers]).toEqual([[3, 4, 5], [5]]);
    });

    it('waits for a stream that does not exist yet', async () => {
      const stream = store().stream();
      const subscriber = new Subscriber(store().client.subscribeToStream(stream));
      await subscriber.until(() => subscriber.caughtUp === 1, 'caughtUp');
      await store().append(stream, numbered(0), 'no_stream');
      await subscriber.until(() => subscriber.events.length === 1, 'the first event');
      await subscriber.stop();
      expect(subscriber.numbers).toEqual([0]);
    });

    it('while writers are busy, every event arrives once and in order', async () => {
      const stream = store().stream();
      const total = 400;
      const writing = (async () => {
        for (let n = 0; n < total; n += 4) await store().append(stream, numberedRange(n, n + 3));
      })();
      const subscribers = await startSubscribersMeanwhile(store(), stream);
      await writing;
      for (const subscriber of subscribers) {
        await subscriber.until(() => subscriber.events.length >= total, 'all events');
        await subscriber.stop();
        expect(subscriber.numbers).toEqual(Array.from({ length: total }, (_, n) => n));
      }
    });
  });

  describe('subscribe to the whole log', () => {
    it('delivers the events of all streams in order, existing and new', async () => {
      const [one, two] = [store().stream(), store().stream()];
      const { position } = await store().append(one, numbered(0));
      await store().append(two, numbered(1));
      const subscriber = new Subscriber(store().client.subscribeToAll({ fromPosition: position ?? START }));
      const mine = (): number[] =>
        subscriber.events.flatMap(({ event }) =>
          event?.streamId === one || event?.streamId === two ? [(event.data as { n: number }).n] : [],
        );
      await subscriber.until(() => subscriber.caughtUp > 0, 'caughtUp');
      await store().append(two, numbered(2));
      await store().append(one, numbered(3));
      await subscriber.until(() => mine().length >= 3, 'live events');
      await subscriber.stop();
      // The subscriber has already seen the event at that position.
      expect(mine()).toEqual([1, 2, 3]);
    });

    it('a subscriber that resumes from its last position gets every event exactly once', async () => {
      const stream = store().stream();
      const { position } = await store().append(stream, numbered(0));
      const seen: number[] = [];
      let from = position;
      for (let round = 0; round < 4; round += 1) {
        const subscriber = new Subscriber(store().client.subscribeToAll({ fromPosition: from ?? START }));
        const mine = () => subscriber.events.filter(({ event }) => event?.streamId === stream);
        await store().append(stream, numberedRange(seen.length + 1, seen.length + 5));
        await subscriber.until(() => mine().length >= 5, 'five events');
        await subscriber.stop();
        seen.push(...mine().map(numberOf));
        from = mine().at(-1)?.event?.position;
      }
      expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    });
  });
}

async function startSubscribersMeanwhile(store: StoreFixture, stream: string): Promise<Subscriber[]> {
  const subscribers: Subscriber[] = [];
  for (let index = 0; index < 5; index += 1) {
    const subscriber = new Subscriber(store.client.subscribeToStream(stream));
    await subscriber.until(() => subscriber.events.length > index * 20, 'events while writing');
    subscribers.push(subscriber);
  }
  return subscribers;
}
