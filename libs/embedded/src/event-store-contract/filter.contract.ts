import {
  type Filter,
  eventTypeFilter,
  excludeSystemEvents,
  type Position,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { numbered, numberedRange, type StoreFixture, Subscriber } from './store-fixture.js';

/** What a filtered read of the whole log returns, and which checkpoints it sends for the rest. */
export function describeFilters(store: () => StoreFixture): void {
  describe('subscribe to the whole log with a filter', () => {
    async function matching(filter: (run: string) => Filter): Promise<number[]> {
      const prefix = store().stream();
      const [one, two] = [`${prefix}-one`, `${prefix}-two`];
      const type = prefix.replaceAll(/[^a-z0-9]/g, '');
      const { position } = await store().append(store().stream(), numbered(99, { type: `${type}Before` }));
      await store().append(one, [numbered(0, { type: `${type}Red` }), numbered(1, { type: `${type}Blue` })]);
      await store().append(two, [numbered(2, { type: `${type}Red` }), numbered(3, { type: `${type}Green` })]);
      const subscriber = new Subscriber(
        store().client.subscribeToAll({ fromPosition: position ?? START, filter: filter(prefix) }),
      );
      await subscriber.until(() => subscriber.caughtUp > 0, 'caughtUp');
      await store().append(one, numbered(4, { type: `${type}Red` }));
      await store().append(two, numbered(5, { type: `${type}Blue` }));
      // Matches every filter used here, and so marks the end.
      await store().append(`${prefix}-one-end`, numbered(6, { type: `${type}Red` }));
      await subscriber.until(() => subscriber.numbers.includes(6), 'the last event');
      await subscriber.stop();
      return subscriber.numbers;
    }

    it('by prefixes of the stream name', async () => {
      expect(await matching((run) => streamNameFilter({ prefixes: [`${run}-one`, 'nowhere'] }))).toEqual([
        0, 1, 4, 6,
      ]);
    });

    it('by a regular expression on the stream name', async () => {
      const escape = (run: string): string => run.replaceAll('.', String.raw`\.`);
      expect(await matching((run) => streamNameFilter({ regex: `^${escape(run)}-one` }))).toEqual([
        0, 1, 4, 6,
      ]);
    });

    it('by prefixes of the event type', async () => {
      const toType = (run: string): string => run.replaceAll(/[^a-z0-9]/g, '');
      expect(await matching((run) => eventTypeFilter({ prefixes: [`${toType(run)}Red`] }))).toEqual([
        0, 2, 4, 6,
      ]);
    });

    it('by a regular expression on the event type', async () => {
      const toType = (run: string): string => run.replaceAll(/[^a-z0-9]/g, '');
      const regex = (run: string): string => `^${toType(run)}(Red|Green)$`;
      expect(await matching((run) => eventTypeFilter({ regex: regex(run) }))).toEqual([0, 2, 3, 4, 6]);
    });

    it('system events can be left out', async () => {
      const stream = store().stream();
      const { position } = await store().append(stream, numbered(0));
      await store().client.setStreamMetadata(stream, { maxCount: 5 });
      await store().append(stream, numbered(1));
      const filter = excludeSystemEvents();
      const subscriber = new Subscriber(
        store().client.subscribeToAll({ fromPosition: position ?? START, filter }),
      );
      await subscriber.until(
        () => subscriber.events.some(({ event }) => event?.streamId === stream),
        'the event',
      );
      await subscriber.stop();
      expect(subscriber.events.filter(({ event }) => event?.type.startsWith('$'))).toEqual([]);
    });

    it('gets no checkpoint at the end of the log: only "caught up" indicates that everything was searched', async () => {
      const stream = store().stream();
      const { position } = await store().append(stream, numbered(0));
      await store().append(stream, numberedRange(1, 10));
      const checkpoints: Position[] = [];
      const filter = streamNameFilter({
        prefixes: [`${stream}-nothing`],
        maxSearchWindow: 1_000,
        checkpointInterval: 1,
        checkpointReached: (_subscription, reached) => void checkpoints.push(reached),
      });
      const subscriber = new Subscriber(
        store().client.subscribeToAll({ fromPosition: position ?? START, filter }),
      );
      await subscriber.until(() => subscriber.caughtUp > 0, 'caughtUp');
      await subscriber.stop();
      expect(checkpoints.filter(({ commit }) => commit !== position?.commit)).toEqual([]);
    });

    it('gets checkpoints although nothing matches, and can resume from them', async () => {
      const stream = store().stream();
      const { position } = await store().append(stream, numbered(0));
      const checkpoints: Position[] = [];
      const filter = streamNameFilter({
        prefixes: [`${stream}-nothing`],
        maxSearchWindow: 5,
        checkpointInterval: 2,
        checkpointReached: (_subscription, reached) => void checkpoints.push(reached),
      });
      const subscriber = new Subscriber(
        store().client.subscribeToAll({ fromPosition: position ?? START, filter }),
      );
      const last = await store().append(stream, numberedRange(1, 40));
      const near = (last.position?.commit ?? 0n) - (position?.commit ?? 0n);
      const passed = (): bigint => (checkpoints.at(-1)?.commit ?? 0n) - (position?.commit ?? 0n);
      await subscriber.until(() => passed() * 2n >= near, 'checkpoints past what was written');
      await store().append(`${stream}-nothing`, numbered(7));
      await subscriber.until(() => subscriber.events.length === 1, 'the match');
      await subscriber.stop();
      const resumed = new Subscriber(
        store().client.subscribeToAll({ fromPosition: checkpoints.at(-1) ?? START, filter }),
      );
      await resumed.until(() => resumed.caughtUp > 0, 'caughtUp');
      await resumed.stop();
      expect(resumed.numbers.filter((n) => n !== 7)).toEqual([]);
    });
  });
}
