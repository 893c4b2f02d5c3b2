import { BACKWARDS, END } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { numbered, numberedRange, type StoreFixture, Subscriber } from './store-fixture.js';

/** How a stream's metadata limits what readers see. */
export function describeMetadata(store: () => StoreFixture): void {
  describe('stream metadata', () => {
    it('is empty until set, then the metadata set last', async () => {
      const stream = store().stream();
      expect((await store().client.getStreamMetadata(stream)).metadata).toBeUndefined();
      await store().client.setStreamMetadata(stream, { maxCount: 2, owner: 'a' });
      await store().client.setStreamMetadata(stream, { maxAge: 60, owner: 'b' });
      expect((await store().client.getStreamMetadata(stream)).metadata).toEqual({ maxAge: 60, owner: 'b' });
    });

    it('$maxCount shows only the newest events, both ways and to subscribers', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 9));
      await store().client.setStreamMetadata(stream, { maxCount: 3 });
      expect(await store().numbers(stream)).toEqual([7, 8, 9]);
      await store().append(stream, numbered(10), 9n);
      expect(await store().numbers(stream, { direction: BACKWARDS, fromRevision: END })).toEqual([10, 9, 8]);
      const subscriber = new Subscriber(store().client.subscribeToStream(stream));
      await subscriber.until(() => subscriber.caughtUp > 0, 'caughtUp');
      await subscriber.stop();
      expect(subscriber.numbers).toEqual([8, 9, 10]);
    });

    it('$tb hides the events before it', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 4));
      await store().client.setStreamMetadata(stream, { truncateBefore: 3 });
      expect(await store().numbers(stream)).toEqual([3, 4]);
      await store().client.setStreamMetadata(stream, { truncateBefore: 5 });
      expect(await store().numbers(stream)).toEqual([]);
      await store().append(stream, numbered(5), 4n);
      expect(await store().numbers(stream)).toEqual([5]);
    });

    it('$maxAge hides older events', async () => {
      const stream = store().stream();
      await store().client.setStreamMetadata(stream, { maxAge: 1 });
      await store().append(stream, numbered(0));
      const deadline = Date.now() + 10_000;
      let left = await store().numbers(stream);
      while (left.length > 0 && Date.now() < deadline) left = await store().numbers(stream);
      expect(left).toEqual([]);
      await store().append(stream, numbered(1), 0n);
      expect(await store().numbers(stream)).toEqual([1]);
    });

    it('a stream that has only metadata counts as existing', async () => {
      const stream = store().stream();
      await store().client.setStreamMetadata(stream, { owner: 'a' });
      await store().append(stream, numbered(0), 'stream_exists');
      expect(await store().numbers(stream)).toEqual([0]);
    });
  });
}
