import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@berth/testing';
import {
  newEvent,
  newStream,
  outcomeOf,
  record,
  startStoreFixture,
  type StoreFixture,
} from './fixtures/store-fixture.js';

const AT_ONCE = 20;

let fixture: StoreFixture;

beforeAll(async () => {
  fixture = await startStoreFixture();
});

afterEach(() => fixture.proxy.restore());
afterAll(() => fixture.stop());

const append = async (category: string, n: number, text = ''): Promise<bigint> => {
  const { position } = await fixture.direct.append(newStream(category), [newEvent({ n, text })], 'no_stream');
  return position;
};

/**
 * Appends each event to a new stream, a few at a time, so that a busy store does not miss the deadline of an append.
 */
const appendMany = async (category: string, count: number, text = ''): Promise<void> => {
  for (let begun = 0; begun < count; begun += AT_ONCE) {
    const next = Math.min(AT_ONCE, count - begun);
    await Promise.all(Array.from({ length: next }, (_, n) => append(category, begun + n, text)));
  }
};

describe('a subscription', () => {
  it('delivers only its categories, in log order, and reports when it has caught up', async () => {
    await append('apple', 1);
    await append('applePie', 99);
    await append('pear', 2);
    const received = record(fixture.direct, { from: 'start', categories: ['apple', 'pear'] });
    await eventually(() => received.items.some(({ kind }) => kind === 'caughtUp'));
    await append('apple', 3);
    await eventually(() => received.numbers().length === 3);
    expect(received.numbers()).toEqual([1, 2, 3]);
    await received.stop();
  });

  it('continues after a position without repeating it', async () => {
    await append('fig', 1);
    const from = await append('fig', 2);
    await append('fig', 3);
    const received = record(fixture.direct, { from, categories: ['fig'] });
    await eventually(() => received.numbers().length === 1);
    expect(received.numbers()).toEqual([3]);
    await received.stop();
  });

  it('reports how far it searched when nothing matches', async () => {
    await appendMany('noise', 300);
    const last = await append('noise', 0);
    const received = record(fixture.direct, { from: 'start', categories: ['silence'] });
    await eventually(() =>
      received.items.some((item) => item.kind === 'checkpoint' && item.position >= last),
    );
    expect(received.numbers()).toEqual([]);
    await received.stop();
  });

  it('never delivers a checkpoint before the events that it covers', async () => {
    for (let n = 0; n < 10; n++) await Promise.all([appendMany('noise', 40), append('rare', n)]);
    const received = record(fixture.direct, { from: 'start', categories: ['rare'] });
    await eventually(() => received.numbers().length === 10);
    await received.stop();
    const places = received.items.flatMap((item) => {
      if (item.kind === 'caughtUp') return [];
      // A checkpoint may equal the position of the previous item; an event must be after it.
      return item.kind === 'event' ? [item.event.position * 2n] : [item.position * 2n + 1n];
    });
    expect(places).toEqual([...new Set(places)].sort((a, b) => Number(a - b)));
  });

  it('that breaks can be continued after its last item: no event is skipped or delivered twice', async () => {
    const received = record(fixture.proxied, { from: 'start', categories: ['cherry'] });
    let sent = 0;
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 25; n++) await append('cherry', sent++);
      fixture.proxy.cut();
    }
    await eventually(() => received.numbers().length >= sent);
    await append('cherry', sent++);
    await eventually(() => received.numbers().length >= sent);
    expect(received.numbers()).toEqual(Array.from({ length: sent }, (_, n) => n));
    await received.stop();
  });

  it('that breaks throws at once that the log is unavailable', async () => {
    const items = fixture.proxied.subscribe({
      from: 'start',
      categories: ['quince'],
      signal: new AbortController().signal,
    });
    const { failure, millis } = await outcomeOf(
      (async () => {
        for await (const item of items) if (item.kind === 'caughtUp') fixture.proxy.cut();
      })(),
    );
    expect(failure).toMatchObject({ kind: 'unavailable' });
    expect(millis).toBeLessThan(3_000);
  });

  it('fails within 5 s while the log is down', async () => {
    fixture.proxy.cut({ refuse: true });
    const items = fixture.proxied.subscribe({
      from: 'start',
      categories: ['date'],
      signal: new AbortController().signal,
    });
    const { failure, millis } = await outcomeOf(items[Symbol.asyncIterator]().next());
    expect(failure).toMatchObject({ kind: 'unavailable' });
    expect(millis).toBeLessThan(5_000);
    fixture.proxy.restore();
  });

  it('ends when its signal aborts, even while waiting', async () => {
    const received = record(fixture.direct, { from: 'start', categories: ['nothing'] });
    await eventually(() => received.items.some(({ kind }) => kind === 'caughtUp'));
    await received.stop();
  });

  it('that is cancelled ends on the server too', async () => {
    for await (const item of fixture.proxied.subscribe({
      from: 'start',
      categories: ['grape'],
      signal: new AbortController().signal,
    })) {
      if (item.kind === 'caughtUp') break;
    }
    const control = record(fixture.direct, { from: 'start', categories: ['grape'] });
    // The cancellation passes the proxy, and the first appends may overtake it.
    await eventually(async () => {
      const [before, received] = [fixture.proxy.responseBytes, control.numbers().length];
      await appendMany('grape', 20, 'x'.repeat(10_000));
      await eventually(() => control.numbers().length === received + 20);
      expect(fixture.proxy.responseBytes - before).toBeLessThan(50_000);
    });
    await control.stop();
  });

  it('is read no faster than its reader consumes it, and a slow reader does not delay others', async () => {
    const text = 'x'.repeat(2_000);
    const events = Array.from({ length: 40 }, (_, n) => newEvent({ n, text }));
    for (let n = 0; n < 60; n++)
      await fixture.direct.append(
        newStream('melon'),
        events.map((e) => newEvent(e.data)),
        'no_stream',
      );
    const stop = new AbortController();
    const before = fixture.proxy.responseBytes;
    const reader = fixture.proxied
      .subscribe({ from: 'start', categories: ['melon'], signal: stop.signal })
      [Symbol.asyncIterator]();
    await reader.next();
    let seen = 0;
    // Stable: the server has sent everything that fits the buffers.
    await eventually(
      () => {
        const now = fixture.proxy.responseBytes;
        const steady = now === seen;
        seen = now;
        return steady;
      },
      { intervalMs: 200 },
    );
    expect(seen - before).toBeLessThan(2_500_000);
    await fixture.proxied.append(newStream('melon'), [newEvent({ n: -1 })], 'no_stream');
    stop.abort();
    await reader.return?.();
  });
});
