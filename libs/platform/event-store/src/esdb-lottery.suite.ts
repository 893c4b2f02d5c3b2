import { Dice, eventually, type CallFault, type ProxiedCall } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { DROPPED, useFaultyStore } from './fixtures/faulty-store.fixture.js';
import { newEvent, newStream, record } from './fixtures/store-fixture.js';
import type { Appended, NewEvent } from './index.js';

const STREAMS = 8;
const APPENDS = 20;

/** Appends through a proxy whose faults each seed draws. */
export const describeEsdbLottery = (seeds: readonly number[]): void => {
  const faulty = useFaultyStore();

  describe('a log with every kind of fault', () => {
    it.each(seeds)(
      'loses and duplicates nothing that it acknowledged, and never blocks a caller for 5 s (seed %i)',
      async (seed) => {
        const { proxy, store, injectFaults, idsOf } = faulty();
        const dice = new Dice(seed);
        const category = `faulty${seed}`;
        const pick = ({ method }: ProxiedCall): CallFault => {
          const late: CallFault = { kind: 'late', afterMs: dice.between(0, 40) };
          if (dice.percent(8)) return { kind: 'half' };
          if (method === 'Read') return late;
          const how = dice.weighted([
            [8, 'lose'],
            [2, 'silent'],
            [6, 'status'],
            [3, 'cut'],
            [73, 'late'],
          ] as const);
          if (how === 'status') return { ...DROPPED, afterMs: 50 };
          if (how === 'cut') setImmediate(() => proxy.cut());
          return how === 'lose' || how === 'silent' ? { kind: how } : late;
        };
        const received = record(store, { from: 'start', categories: [category] });
        await eventually(() => received.items.some(({ kind }) => kind === 'caughtUp'));
        injectFaults(pick);
        const slowest: number[] = [];
        const writeOne = async (
          stream: string,
          events: NewEvent[],
          before: bigint | 'no_stream',
        ): Promise<Appended> =>
          eventually(
            async () => {
              const began = performance.now();
              try {
                return await store.append(stream, events, before);
              } finally {
                slowest.push(performance.now() - began);
              }
            },
            { timeoutMs: 30_000 },
          );
        const writeStream = async (stream: string): Promise<string[]> => {
          const ids: string[] = [];
          let before: bigint | 'no_stream' = 'no_stream';
          for (let n = 0; n < APPENDS; n++) {
            const events = Array.from({ length: 1 + (n % 3) }, () => newEvent({ n }));
            before = (await writeOne(stream, events, before)).revision;
            ids.push(...events.map(({ id }) => id));
          }
          return ids;
        };
        const streams = Array.from({ length: STREAMS }, () => newStream(category));
        const written = await Promise.all(streams.map(writeStream));
        injectFaults(() => undefined);
        for (const [index, stream] of streams.entries()) expect(await idsOf(stream)).toEqual(written[index]);
        const ids = (): string[] =>
          received.items.flatMap((item) => (item.kind === 'event' ? [item.event.id] : []));
        await eventually(() => ids().length >= written.flat().length, { timeoutMs: 15_000 });
        expect(ids().toSorted()).toEqual(written.flat().toSorted());
        expect(Math.max(...slowest)).toBeLessThan(5_000);
        await received.stop();
      },
      60_000,
    );
  });
};
