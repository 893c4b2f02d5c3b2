import { randomUUID } from 'node:crypto';
import { binaryEvent, jsonEvent } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { numbered, numberedRange, rejection, type StoreFixture } from './store-fixture.js';

/** The guarantees of an append. */
export function describeAppends(store: () => StoreFixture): void {
  describe('append', () => {
    it('a new stream starts at revision 0 and later appends continue from there', async () => {
      const stream = store().stream();
      const first = await store().append(stream, numberedRange(0, 2), 'no_stream');
      const second = await store().append(stream, numbered(3), 2n);
      expect(first).toMatchObject({ success: true, nextExpectedRevision: 2n });
      expect(second).toMatchObject({ success: true, nextExpectedRevision: 3n });
      expect(second.position?.commit).toBeGreaterThan(first.position?.commit ?? 0n);
      expect(await store().numbers(stream)).toEqual([0, 1, 2, 3]);
    });

    it('events are read as they were written: id, type, data, metadata, time, position', async () => {
      const stream = store().stream();
      const id = randomUUID();
      const data = { text: 'grüße 🌍', nested: { list: [1, null, true] } };
      const metadata = { correlationId: 'c-1' };
      const before = Date.now();
      const { position } = await store().append(stream, jsonEvent({ id, type: 'Stored', data, metadata }));
      const [read] = await store().read(stream);
      const revision = 0n;
      expect(read?.event).toMatchObject({
        id,
        type: 'Stored',
        data,
        metadata,
        revision,
        streamId: stream,
        isJson: true,
      });
      expect(read?.event?.position).toEqual(position);
      expect(Math.abs((read?.event?.created.getTime() ?? 0) - before)).toBeLessThan(60_000);
    });

    it('binary data and metadata are read back byte for byte', async () => {
      const stream = store().stream();
      const data = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const metadata = Uint8Array.of(0, 255, 1, 254);
      await store().append(stream, binaryEvent({ type: 'Bytes', data, metadata }) as never);
      const [read] = await store().read(stream);
      expect(read?.event?.isJson).toBe(false);
      expect(Buffer.from(read?.event?.data as Uint8Array)).toEqual(Buffer.from(data));
      expect(Buffer.from(read?.event?.metadata as Uint8Array)).toEqual(Buffer.from(metadata));
    });

    it('stream names may contain any Unicode characters', async () => {
      const stream = `${store().stream()}-käse/€ 100%`;
      await store().append(stream, numbered(1), 'no_stream');
      expect(await store().numbers(stream)).toEqual([1]);
      const refused = await rejection(store().append(stream, numbered(2), 'no_stream'));
      expect(refused).toMatchObject({ type: 'wrong-expected-version', streamName: stream });
    });

    it('an append of many events that the caller aborts is written completely or not at all', async () => {
      const streams = Array.from({ length: 200 }, () => store().stream());
      const events = numberedRange(0, 39);
      await Promise.allSettled(
        streams.map((stream, index) =>
          store().append(stream, events, 'no_stream', { deadline: index % 3 === 0 ? -1 : index % 5 }),
        ),
      );
      // Once a later append returns, everything that was in progress when the caller gave up has settled.
      await store().append(store().stream(), numbered(1), 'no_stream');
      const lengths = await Promise.all(streams.map((stream) => store().length(stream)));
      expect(new Set([0, 40, ...lengths])).toEqual(new Set([0, 40]));
    });

    it('an exact revision that is not the current one is refused and nothing is written', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 1), 'no_stream');
      for (const wrong of [0n, 2n, 99n] as const) {
        const refused = await rejection(store().append(stream, numbered(9), wrong));
        expect(refused).toMatchObject({
          type: 'wrong-expected-version',
          streamName: stream,
          expectedVersion: wrong,
          actualVersion: 1n,
        });
      }
      expect(await store().numbers(stream)).toEqual([0, 1]);
    });

    it('no_stream is refused for an existing stream, a revision for a missing one', async () => {
      const stream = store().stream();
      const early = await rejection(store().append(stream, numbered(0), 0n));
      expect(early).toMatchObject({
        type: 'wrong-expected-version',
        actualVersion: 'no_stream',
        expectedVersion: 0n,
      });
      await store().append(stream, numbered(0), 'no_stream');
      const late = await rejection(store().append(stream, numbered(1), 'no_stream'));
      expect(late).toMatchObject({
        type: 'wrong-expected-version',
        actualVersion: 0n,
        expectedVersion: 'no_stream',
      });
    });

    it('stream_exists is refused until the stream exists; any is never refused', async () => {
      const stream = store().stream();
      const early = await rejection(store().append(stream, numbered(0), 'stream_exists'));
      expect(early).toMatchObject({ type: 'wrong-expected-version', expectedVersion: 'stream_exists' });
      await store().append(stream, numbered(0), 'any');
      await store().append(stream, numbered(1), 'any');
      await store().append(stream, numbered(2), 'stream_exists');
      expect(await store().numbers(stream)).toEqual([0, 1, 2]);
    });

    it('exactly one of the writers that race for a revision wins', async () => {
      const stream = store().stream();
      await store().append(stream, numbered(0), 'no_stream');
      const race = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => store().append(stream, numbered(index + 1), 0n)),
      );
      expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await store().read(stream)).toHaveLength(2);
    });

    it('an append above the maximum size is refused with that error, and none of it is written', async () => {
      const stream = store().stream();
      const half = jsonEvent({ type: 'Large', data: { text: 'x'.repeat(600_000) } });
      const other = jsonEvent({ type: 'Large', data: { text: 'y'.repeat(600_000) } });
      await store().append(stream, half, 'no_stream');
      const refused = await rejection(store().append(stream, [half, other], 0n));
      expect(refused).toMatchObject({ type: 'maximum-append-size-exceeded', maxAppendSize: 1_048_576 });
      expect(await store().read(stream)).toHaveLength(1);
    });
  });
}
