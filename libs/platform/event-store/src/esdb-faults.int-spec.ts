import type { CallFault } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { DROPPED, useFaultyStore } from './fixtures/faulty-store.fixture.js';
import { newEvent, newStream, outcomeOf } from './fixtures/store-fixture.js';

const faulty = useFaultyStore();

/** Applies the fault to the next append only. */
const nextAppend = (fault: CallFault): void => {
  let done = false;
  faulty().injectFaults(({ method }) => {
    if (done || method !== 'Append') return undefined;
    done = true;
    return fault;
  });
};

describe('an append is written once and acknowledged when', () => {
  const faults: [string, CallFault][] = [
    ['it was cut off in the middle', { kind: 'half' }],
    ['its response was lost', { kind: 'lose' }],
    ['it never arrived and got no response', { kind: 'silent' }],
    ['its response arrived after it had been repeated', { kind: 'late', afterMs: 3_000 }],
    ['the log dropped it as a duplicate', { ...DROPPED, afterMs: 2_000 }],
  ];

  it.each(faults)('%s', async (_, fault) => {
    const { store, idsOf } = faulty();
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
    const { store, injectFaults, idsOf } = faulty();
    const stream = newStream('agent');
    const event = newEvent();
    injectFaults(({ method, duplicates }) => {
      if (method !== 'Append') return undefined;
      return duplicates === 0 ? { kind: 'late', afterMs: 6_000 } : { ...DROPPED, afterMs: 2_000 };
    });
    const first = await outcomeOf(store.append(stream, [event], 'no_stream'));
    expect(first.failure).toMatchObject({ kind: 'unavailable' });
    expect(first.millis).toBeLessThan(5_000);
    injectFaults(() => undefined);
    expect(await store.append(stream, [event], 'no_stream')).toMatchObject({ revision: 0n });
    expect(await idsOf(stream)).toEqual([event.id]);
  });
});
