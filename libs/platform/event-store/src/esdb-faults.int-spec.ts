import { EventStoreProxy, startTestInfra, type CallFault, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newEvent, newStream, outcomeOf, quietLog } from './fixtures/store-fixture.js';
import { connectEventStore, type EventStore } from './index.js';

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
