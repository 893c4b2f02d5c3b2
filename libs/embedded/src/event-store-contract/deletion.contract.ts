import { describe, expect, it } from 'vitest';
import { numbered, numberedRange, rejection, type StoreFixture, Subscriber } from './store-fixture.js';

/** The effects of soft deletion and of tombstoning of a stream. */
export function describeDeletions(store: () => StoreFixture): void {
  describe('delete', () => {
    it('a deleted stream is not found; a new append continues with the next revision', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 2));
      await store().client.deleteStream(stream, { expectedRevision: 2n });
      expect(await rejection(store().read(stream))).toMatchObject({ type: 'stream-not-found' });
      const reopened = await store().append(stream, numbered(3), 'no_stream');
      expect(reopened.nextExpectedRevision).toBe(3n);
      expect(await store().numbersOnceFound(stream)).toEqual([3]);
      await store().append(stream, numbered(4), 3n);
      expect(await store().numbersOnceFound(stream)).toEqual([3, 4]);
    });

    it('a deleted stream accepts appends with any and with its last revision, but does not exist', async () => {
      for (const expected of ['any', 1n] as const) {
        const stream = store().stream();
        await store().append(stream, numberedRange(0, 1));
        await store().client.deleteStream(stream);
        expect(await rejection(store().append(stream, numbered(2), 'stream_exists'))).toMatchObject({
          type: 'stream-deleted',
        });
        await store().append(stream, numbered(2), expected);
        expect(await store().numbersOnceFound(stream)).toEqual([2]);
      }
    });

    it('an append to a reopened stream is recognised when sent again', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 1));
      await store().client.deleteStream(stream);
      const event = numbered(2);
      await store().append(stream, event, 1n);
      await store().append(stream, event, 1n);
      expect(await store().numbersOnceFound(stream)).toEqual([2]);
    });

    it('a delete that expects another revision is refused and deletes nothing', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 1));
      const refused = await rejection(store().client.deleteStream(stream, { expectedRevision: 0n }));
      expect(refused).toMatchObject({ type: 'wrong-expected-version', actualVersion: 1n });
      expect(await store().numbers(stream)).toEqual([0, 1]);
    });

    it('new metadata does not restore deleted events', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 1));
      await store().client.deleteStream(stream);
      await store().client.setStreamMetadata(stream, { maxCount: 10 });
      await store().append(stream, numbered(2));
      expect(await store().numbersOnceFound(stream)).toEqual([2]);
    });
  });

  describe('tombstone', () => {
    it('closes the stream permanently: every later operation fails because it is deleted', async () => {
      const stream = store().stream();
      await store().append(stream, numbered(0));
      await store().client.tombstoneStream(stream, { expectedRevision: 0n });
      const deleted = { type: 'stream-deleted', streamName: stream };
      expect(await rejection(store().read(stream))).toMatchObject(deleted);
      for (const expected of ['any', 'no_stream', 'stream_exists', 0n] as const) {
        expect(await rejection(store().append(stream, numbered(1), expected))).toMatchObject(deleted);
      }
      expect(await rejection(store().client.deleteStream(stream))).toMatchObject(deleted);
      expect(await rejection(store().client.tombstoneStream(stream))).toMatchObject(deleted);
      const subscriber = new Subscriber(store().client.subscribeToStream(stream));
      await subscriber.until(() => subscriber.error !== undefined, 'an error');
      expect(subscriber.error).toMatchObject(deleted);
    });

    it('also closes a stream that never existed', async () => {
      const stream = store().stream();
      await store().client.tombstoneStream(stream, { expectedRevision: 'no_stream' });
      expect(await rejection(store().append(stream, numbered(0)))).toMatchObject({ type: 'stream-deleted' });
    });

    it('with a wrong revision is refused and the stream stays open', async () => {
      const stream = store().stream();
      await store().append(stream, numbered(0));
      const refused = await rejection(store().client.tombstoneStream(stream, { expectedRevision: 5n }));
      expect(refused).toMatchObject({ type: 'wrong-expected-version' });
      await store().append(stream, numbered(1), 0n);
    });
  });
}
