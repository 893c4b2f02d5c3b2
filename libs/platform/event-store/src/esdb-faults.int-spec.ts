import {
  EventStoreProxy,
  eventually,
  startTestInfra,
  type CallFault,
  type ProxiedCall,
  type TestInfra,
} from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newEvent, newStream, outcomeOf, quietLog, record } from './fixtures/store-fixture.js';
import { connectEventStore, type Appended, type EventStore, type NewEvent } from './index.js';

const ABORTED = 10;
const COMMIT_TIMEOUT = 'Operation timed out: Commit phase timeout';

let infra: TestInfra;
let proxy: EventStoreProxy;
let direct: EventStore;
let store: EventStore;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['eventStore'] });
  proxy = await EventStoreProxy.start(infra.portOf('eventStore'));
  direct = connectEventStore({ url: infra.eventStoreUrl, log: quietLog });
  store = connectEventStore({ url: proxy.url, log: quietLog });
});

afterEach(() => {
  proxy.fault = () => undefined;
});

afterAll(async () => {
  await Promise.all([direct.close(), store.close()]);
  await proxy.stop();
  await infra.stop();
});

const idsOf = async (stream: string): Promise<string[]> => (await direct.read(stream)).map(({ id }) => id);

/** Applies the fault to the next append only. */
const nextAppend = (fault: CallFault): void => {
  let done = false;
  proxy.fault = ({ method }) => {
    if (done || method !== 'Append') return undefined;
    done = true;
    return fault;
  };
};

describe('an append is written once and acknowledged when', () => {
  const faults: [string, CallFault][] = [
    ['it was cut off in the middle', { kind: 'half' }],
    ['its response was lost', { kind: 'lose' }],
    ['it never arrived and got no response', { kind: 'silent' }],
    ['its response arrived after it had been repeated', { kind: 'late', afterMs: 3_000 }],
    [
      'the log dropped it as a duplicate',
      { kind: 'status', code: ABORTED, details: COMMIT_TIMEOUT, afterMs: 2_000 },
    ],
  ];

  it.each(faults)('%s', async (_, fault) => {
    const stream = newStream('agent');
    const events = [newEvent({ n: 0 }), newEvent({ n: 1 }), newEvent({ text: 'x'.repeat(50_000) })];
    nextAppend(fault);
    const { failure, millis } = await outcomeOf(store.append(stream, events, 'no_stream'));
    expect(failure).toBeUndefined();
    expect(millis).toBeLessThan(5_000);
    expect(await idsOf(stream)).toEqual(events.map(({ id }) => id));
  });
});

describe('an append whose duplicates the log drops until the first is acknowledged', () => {
  it('fails in time, is written once, and is acknowledged when it is repeated', async () => {
    const stream = newStream('agent');
    const event = newEvent();
    proxy.fault = ({ method, duplicates }) => {
      if (method !== 'Append') return undefined;
      if (duplicates === 0) return { kind: 'late', afterMs: 6_000 };
      return { kind: 'status', code: ABORTED, details: COMMIT_TIMEOUT, afterMs: 2_000 };
    };
    const first = await outcomeOf(store.append(stream, [event], 'no_stream'));
    expect(first.failure).toMatchObject({ kind: 'unavailable' });
    expect(first.millis).toBeLessThan(5_000);
    proxy.fault = () => undefined;
    expect(await store.append(stream, [event], 'no_stream')).toMatchObject({ revision: 0n });
    expect(await idsOf(stream)).toEqual([event.id]);
  });
});

/** A deterministic random number generator. */
const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const STREAMS = 8;
const APPENDS = 20;

describe('a log with every kind of fault', () => {
  it.each([1, 2])(
    'loses and duplicates nothing that it acknowledged, and never blocks a caller for 5 s (seed %i)',
    async (seed) => {
      const random = seeded(seed);
      const category = `faulty${seed}`;
      const pick = ({ method }: ProxiedCall): CallFault | undefined => {
        const dice = random();
        if (dice < 0.08) return { kind: 'half' };
        if (method === 'Read') return { kind: 'late', afterMs: Math.floor(random() * 40) };
        if (dice < 0.16) return { kind: 'lose' };
        if (dice < 0.18) return { kind: 'silent' };
        if (dice < 0.24) return { kind: 'status', code: ABORTED, details: COMMIT_TIMEOUT, afterMs: 50 };
        if (dice < 0.27) setImmediate(() => proxy.cut());
        return { kind: 'late', afterMs: Math.floor(random() * 40) };
      };
      const received = record(store, { from: 'start', categories: [category] });
      await eventually(() => received.items.some(({ kind }) => kind === 'caughtUp'));
      proxy.fault = pick;
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
      proxy.fault = () => undefined;
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
