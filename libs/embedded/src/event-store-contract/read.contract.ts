import { BACKWARDS, END, FORWARDS, jsonEvent, START } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { numberOf, numbered, numberedRange, rejection, type StoreFixture } from './store-fixture.js';

/** The guarantees of reading a stream or the whole log. */
export function describeReads(store: () => StoreFixture): void {
  describe('read a stream', () => {
    it('forwards from the start, a revision or the end, with a limit', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 9));
      expect(await store().numbers(stream, { fromRevision: START, maxCount: 3 })).toEqual([0, 1, 2]);
      expect(await store().numbers(stream, { fromRevision: 7n })).toEqual([7, 8, 9]);
      expect(await store().numbers(stream, { fromRevision: 4n, maxCount: 2 })).toEqual([4, 5]);
      expect(await store().numbers(stream, { fromRevision: 100n })).toEqual([]);
    });

    it('forwards from the end is an error, whether the stream exists or not', async () => {
      const stream = store().stream();
      await store().append(stream, numbered(0));
      for (const name of [stream, store().stream()]) {
        const { message } = await rejection(store().read(name, { fromRevision: END }));
        expect(message).toContain('UNKNOWN: Unexpected ReadStreamResult: Error');
      }
    });

    it('backwards from the end, a revision or the start, with a limit', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 9));
      const direction = BACKWARDS;
      expect(await store().numbers(stream, { direction, fromRevision: END, maxCount: 3 })).toEqual([9, 8, 7]);
      expect(await store().numbers(stream, { direction, fromRevision: 2n })).toEqual([2, 1, 0]);
      expect(await store().numbers(stream, { direction, fromRevision: START })).toEqual([0]);
    });

    it('more than a page is read completely and in order, in both directions', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 1_299));
      const wanted = Array.from({ length: 1_300 }, (_, n) => n);
      expect(await store().numbers(stream)).toEqual(wanted);
      const backwards = await store().numbers(stream, { direction: BACKWARDS, fromRevision: END });
      expect(backwards).toEqual(wanted.toReversed());
    });

    it('a slow reader gets large events completely', async () => {
      const stream = store().stream();
      for (let n = 0; n < 12; n += 1) {
        await store().append(stream, jsonEvent({ type: 'Large', data: { n, text: 'z'.repeat(900_000) } }));
      }
      const seen: number[] = [];
      for await (const event of store().client.readStream(stream, {}, { highWaterMark: 1 })) {
        seen.push(numberOf(event));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(seen).toEqual(Array.from({ length: 12 }, (_, n) => n));
    });

    it('a stream that was never written to is not found', async () => {
      const stream = store().stream();
      expect(await rejection(store().read(stream))).toMatchObject({
        type: 'stream-not-found',
        streamName: stream,
      });
    });

    it('a reader that cancels midway gets no error, and the store serves later reads', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 999));
      const reading = store().client.readStream(stream);
      for await (const event of reading) {
        if (numberOf(event) === 10) break;
      }
      await reading.cancel();
      expect(await store().numbers(stream, { maxCount: 2 })).toEqual([0, 1]);
    });
  });

  describe('read the whole log', () => {
    it('events are in the order in which they were written, with increasing positions', async () => {
      const [one, two] = [store().stream(), store().stream()];
      const first = await store().append(one, numbered(0));
      await store().append(two, numberedRange(1, 2));
      await store().append(one, numbered(3));
      const mine = await readMine(store(), { direction: FORWARDS, fromPosition: first.position ?? START });
      expect(mine.map(({ n }) => n)).toEqual([0, 1, 2, 3]);
      const positions = mine.map(({ position }) => position);
      expect(positions).toEqual(positions.toSorted((a, b) => (a < b ? -1 : 1)));
      expect(new Set(positions).size).toBe(4);
    });

    it('forwards from a position, the event at the position comes first; backwards, the event before it', async () => {
      const stream = store().stream();
      await store().append(stream, numbered(0));
      const { position } = await store().append(stream, numbered(1));
      await store().append(stream, numbered(2));
      const fromPosition = position ?? START;
      const forwards = await readMine(store(), { direction: FORWARDS, fromPosition });
      const backwards = await readMine(store(), { direction: BACKWARDS, fromPosition, maxCount: 50 });
      expect(forwards.filter((event) => event.stream === stream).map(({ n }) => n)).toEqual([1, 2]);
      expect(backwards.filter((event) => event.stream === stream).map(({ n }) => n)).toEqual([0]);
    });

    it('backwards from the end, the newest event comes first', async () => {
      const stream = store().stream();
      await store().append(stream, numberedRange(0, 4));
      const read = await readMine(store(), { direction: BACKWARDS, fromPosition: END, maxCount: 200 });
      expect(read.filter((event) => event.stream === stream).map(({ n }) => n)).toEqual([4, 3, 2, 1, 0]);
    });
  });
}

type ReadAllOptions = Parameters<StoreFixture['client']['readAll']>[0];

async function readMine(
  store: StoreFixture,
  options: ReadAllOptions,
): Promise<{ n: number; stream: string; position: bigint }[]> {
  const mine: { n: number; stream: string; position: bigint }[] = [];
  for await (const resolved of store.client.readAll(options)) {
    const stream = resolved.event?.streamId ?? '';
    if (!stream.startsWith(`contract-${store.run}`)) continue;
    mine.push({ n: numberOf(resolved), stream, position: resolved.event?.position?.commit ?? -1n });
  }
  return mine;
}
