import { jsonEvent } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { numbered, numberedRange, rejection, type StoreFixture } from './store-fixture.js';

/** The guarantees of the client's batch append, which it uses for calls without credentials of their own. */
export function describeBatchAppends(store: () => StoreFixture): void {
  describe('batch append', () => {
    it('appends that share one call each get a result of their own', async () => {
      const streams = Array.from({ length: 50 }, () => store().stream());
      const results = await Promise.all(
        streams.map((stream, index) =>
          store().client.appendToStream(stream, numberedRange(0, index), { expectedRevision: 'no_stream' }),
        ),
      );
      expect(results.map((result) => result.nextExpectedRevision)).toEqual(
        streams.map((_, index) => BigInt(index)),
      );
      expect(await store().read(streams[49] ?? '')).toHaveLength(50);
    });

    it('a refused append does not affect the others of the call', async () => {
      const [good, bad, other] = [store().stream(), store().stream(), store().stream()];
      const client = store().client;
      const [first, refused, last] = await Promise.allSettled([
        client.appendToStream(good, numbered(0), { expectedRevision: 'no_stream' }),
        client.appendToStream(bad, numbered(0), { expectedRevision: 7n }),
        client.appendToStream(other, numbered(0), { expectedRevision: 'any' }),
      ]);
      expect(first.status).toBe('fulfilled');
      expect(last.status).toBe('fulfilled');
      expect(refused).toMatchObject({
        status: 'rejected',
        reason: {
          type: 'wrong-expected-version',
          streamName: bad,
          expectedVersion: 7n,
          actualVersion: 'no_stream',
        },
      });
    });

    it('an append split into many messages is one append', async () => {
      const stream = store().stream();
      const result = await store().client.appendToStream(stream, numberedRange(0, 99), {
        expectedRevision: 'no_stream',
        batchAppendSize: 200,
      });
      expect(result.nextExpectedRevision).toBe(99n);
      expect(await store().numbers(stream)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    });

    it('is recognised when sent again', async () => {
      const stream = store().stream();
      const events = numberedRange(0, 1);
      for (const expectedRevision of ['no_stream', 'no_stream', 'any'] as const) {
        const result = await store().client.appendToStream(stream, events, { expectedRevision });
        expect(result.nextExpectedRevision).toBe(1n);
      }
      expect(await store().numbers(stream)).toEqual([0, 1]);
    });

    it('reports a tombstoned stream and an append that is too large', async () => {
      const [gone, large] = [store().stream(), store().stream()];
      await store().append(gone, numbered(0));
      await store().client.tombstoneStream(gone);
      const deleted = await rejection(store().client.appendToStream(gone, numbered(1)));
      expect(deleted).toMatchObject({ type: 'stream-deleted', streamName: gone });
      const event = jsonEvent({ type: 'Large', data: { text: 'x'.repeat(1_100_000) } });
      const refused = await rejection(store().client.appendToStream(large, event));
      expect(refused).toMatchObject({ type: 'maximum-append-size-exceeded' });
    });
  });
}
