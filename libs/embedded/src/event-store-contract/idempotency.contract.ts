import { describe, expect, it } from 'vitest';
import { numbered, numberedRange, rejection, type StoreFixture } from './store-fixture.js';

/** Which retried appends the store recognises. */
export function describeIdempotency(store: () => StoreFixture): void {
  describe('a retried append', () => {
    it.each(['no_stream', 'any'] as const)(
      'is recognised with %s and returns the first result',
      async (expected) => {
        const stream = store().stream();
        const events = numberedRange(0, 2);
        const first = await store().append(stream, events, expected);
        const again = await store().append(stream, events, expected);
        expect(again.nextExpectedRevision).toBe(first.nextExpectedRevision);
        expect(await store().numbers(stream)).toEqual([0, 1, 2]);
      },
    );

    it('is recognised with an exact revision, also after later appends', async () => {
      const stream = store().stream();
      await store().append(stream, numbered(0), 'no_stream');
      const events = numberedRange(1, 2);
      const first = await store().append(stream, events, 0n);
      await store().append(stream, numbered(3), 2n);
      const again = await store().append(stream, events, 0n);
      expect(again).toMatchObject({ success: true, nextExpectedRevision: first.nextExpectedRevision });
      expect(await store().numbers(stream)).toEqual([0, 1, 2, 3]);
    });

    it('is recognised with stream_exists', async () => {
      const stream = store().stream();
      await store().append(stream, numbered(0), 'no_stream');
      const event = numbered(1);
      await store().append(stream, event, 'stream_exists');
      await store().append(stream, event, 'stream_exists');
      expect(await store().numbers(stream)).toEqual([0, 1]);
    });

    it('is recognised when only its first events are sent', async () => {
      const stream = store().stream();
      const [one, two] = [numbered(0), numbered(1)];
      await store().append(stream, [one, two], 'no_stream');
      const again = await store().append(stream, one, 'no_stream');
      expect(again).toMatchObject({ success: true, nextExpectedRevision: 0n });
      expect(await store().numbers(stream)).toEqual([0, 1]);
    });

    it('is refused when other events follow the known ones', async () => {
      const stream = store().stream();
      const one = numbered(0);
      await store().append(stream, [one, numbered(1)], 'no_stream');
      for (const expected of ['no_stream', 'any'] as const) {
        const refused = await rejection(store().append(stream, [one, numbered(2)], expected));
        expect(refused).toMatchObject({ type: 'wrong-expected-version', actualVersion: 1n });
      }
      expect(await store().numbers(stream)).toEqual([0, 1]);
    });

    it('is refused when it continues beyond the stored events', async () => {
      const stream = store().stream();
      const events = numberedRange(0, 1);
      await store().append(stream, events, 'no_stream');
      const refused = await rejection(store().append(stream, [...events, numbered(2)], 'no_stream'));
      expect(refused).toMatchObject({ type: 'wrong-expected-version' });
      expect(await store().numbers(stream)).toEqual([0, 1]);
    });

    it('with a refreshed revision is a new append: ids at the end are not compared', async () => {
      const stream = store().stream();
      const event = numbered(0);
      await store().append(stream, event, 'no_stream');
      await store().append(stream, event, 0n);
      expect(await store().numbers(stream)).toEqual([0, 0]);
    });

    it('to another stream is a new append', async () => {
      const [stream, other] = [store().stream(), store().stream()];
      const event = numbered(0);
      await store().append(stream, event, 'any');
      await store().append(other, event, 'any');
      expect(await store().numbers(other)).toEqual([0]);
    });

    it('sent many times at once is written once; a duplicate that arrives too early times out and is then recognised', async () => {
      const stream = store().stream();
      const events = numberedRange(0, 1);
      const responses = await Promise.allSettled(
        Array.from({ length: 20 }, () => store().append(stream, events, 'no_stream')),
      );
      const acknowledged = responses.flatMap((response) =>
        response.status === 'fulfilled' ? [response.value] : [],
      );
      const refused = responses.flatMap((response): unknown[] =>
        response.status === 'rejected' ? [response.reason] : [],
      );
      expect(acknowledged.length).toBeGreaterThan(0);
      for (const error of refused) {
        expect(error).toMatchObject({ type: 'timeout' });
        expect(String(error)).toContain('Operation timed out: Commit phase timeout');
      }
      const again = await store().append(stream, events, 'no_stream');
      for (const { nextExpectedRevision } of [...acknowledged, again]) expect(nextExpectedRevision).toBe(1n);
      expect(await store().numbers(stream)).toEqual([0, 1]);
    });
  });
}
