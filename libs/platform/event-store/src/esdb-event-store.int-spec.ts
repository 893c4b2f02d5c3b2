import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, TcpProxy } from '@berth/testing';
import { connectEventStore, RevisionConflict, type NewEvent } from './index.js';
import {
  newEvent,
  newStream,
  outcomeOf,
  quietLog,
  record,
  startStoreFixture,
  type StoreFixture,
} from './fixtures/store-fixture.js';

const unavailable = expect.objectContaining({ kind: 'unavailable', code: 'service_unavailable' }) as unknown;

let fixture: StoreFixture;

beforeAll(async () => {
  fixture = await startStoreFixture(['eventStore'], ['eventStore']);
});

afterEach(() => fixture.proxy.restore());
afterAll(() => fixture.stop());

const idsOf = async (stream: string): Promise<string[]> =>
  (await fixture.direct.read(stream)).map(({ id }) => id);

describe('an append', () => {
  it('is read back as written, with its revision and position', async () => {
    const stream = newStream('agent');
    const events = [newEvent({ text: 'ü', nested: { list: [1, null, true] } }), newEvent({ n: 2 })];
    const appended = await fixture.direct.append(stream, events, 'no_stream');
    const [first, second] = await fixture.direct.read(stream);
    expect(first).toMatchObject({ ...events[0], stream, revision: 0n });
    expect(second).toMatchObject({ ...events[1], revision: 1n, position: appended.position });
    expect(appended.revision).toBe(1n);
    expect(first && second && first.position < second.position).toBe(true);
    expect(Math.abs(Date.now() - (first?.createdAt.getTime() ?? 0))).toBeLessThan(60_000);
    expect(await fixture.direct.read(stream, { from: 1n })).toHaveLength(1);
    expect(await fixture.direct.head()).toBe(appended.position);
  });

  it('to a stream at another revision is a conflict that reports the actual revision', async () => {
    const stream = newStream('agent');
    await fixture.direct.append(stream, [newEvent(), newEvent()], 'no_stream');
    const late = await outcomeOf(fixture.direct.append(stream, [newEvent()], 0n));
    expect(late.failure).toBeInstanceOf(RevisionConflict);
    expect(late.failure).toMatchObject({ stream, expected: 0n, actual: 1n });
    const again = await outcomeOf(fixture.direct.append(stream, [newEvent()], 'no_stream'));
    expect(again.failure).toMatchObject({ expected: 'no_stream', actual: 1n });
    const early = await outcomeOf(fixture.direct.append(newStream('agent'), [newEvent()], 3n));
    expect(early.failure).toMatchObject({ expected: 3n, actual: 'no_stream' });
  });

  it('that is repeated is recognised, even if others were written after it', async () => {
    const stream = newStream('agent');
    const events = [newEvent(), newEvent()];
    const first = await fixture.direct.append(stream, events, 'no_stream');
    await fixture.direct.append(stream, [newEvent()], 1n);
    expect(await fixture.direct.append(stream, events, 'no_stream')).toEqual(first);
    expect(await idsOf(stream)).toHaveLength(3);
  });

  it('without events, with data that is not JSON, or beyond the size limit fails without side effects', async () => {
    const stream = newStream('agent');
    await expect(fixture.direct.append(stream, [], 'no_stream')).rejects.toThrow(/at least one/);
    const unwritable = { ...newEvent(), data: { n: 1n } } as unknown as NewEvent;
    await expect(fixture.direct.append(stream, [unwritable], 'no_stream')).rejects.toThrow(/BigInt/);
    const huge = newEvent({ text: 'x'.repeat(1_100_000) });
    const { failure } = await outcomeOf(fixture.direct.append(stream, [huge], 'no_stream'));
    expect(failure).toMatchObject({ kind: 'too_large' });
    expect(await idsOf(stream)).toEqual([]);
  });

  it('fails alone: a conflict does not reject other appends in flight', async () => {
    const taken = newStream('agent');
    await fixture.direct.append(taken, [newEvent()], 'no_stream');
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        outcomeOf(
          fixture.direct.append(index % 10 === 0 ? taken : newStream('agent'), [newEvent()], 'no_stream'),
        ),
      ),
    );
    const others = outcomes.filter((_, index) => index % 10 !== 0);
    expect(others.filter(({ failure }) => failure !== undefined)).toEqual([]);
    const conflicts = outcomes.filter(({ failure }) => failure instanceof RevisionConflict);
    expect(conflicts).toHaveLength(20);
  });

  it('that conflicts throws even if the URL tells the client not to throw', async () => {
    const url = `${fixture.infra.eventStoreUrl}&throwOnAppendFailure=false`;
    const store = connectEventStore({ url, log: quietLog });
    const stream = newStream('agent');
    await store.append(stream, [newEvent()], 'no_stream');
    await expect(store.append(stream, [newEvent()], 'no_stream')).rejects.toBeInstanceOf(RevisionConflict);
    await store.close();
  });
});

describe('reading', () => {
  it('returns no events of a stream that does not exist, and none after the end of one that does', async () => {
    const stream = newStream('agent');
    expect(await fixture.direct.read(stream)).toEqual([]);
    await fixture.direct.append(stream, [newEvent()], 'no_stream');
    expect(await fixture.direct.read(stream, { from: 1n })).toEqual([]);
  });
});

describe('a connection failure', () => {
  it('while appends are in flight loses and duplicates none of them', async () => {
    const appends = Array.from({ length: 100 }, () => ({ stream: newStream('agent'), event: newEvent() }));
    const outcomes = appends.map(({ stream, event }) =>
      outcomeOf(fixture.proxied.append(stream, [event], 'no_stream')),
    );
    fixture.proxy.cut();
    for (const { failure } of await Promise.all(outcomes)) expect(failure).toBeUndefined();
    for (const { stream, event } of appends) expect(await idsOf(stream)).toEqual([event.id]);
  });

  it('after the event was written but before the response arrived is invisible to the caller', async () => {
    await fixture.proxied.ping();
    const stream = newStream('agent');
    const event = newEvent();
    fixture.proxy.dropResponses();
    const append = fixture.proxied.append(stream, [event], 'no_stream');
    await eventually(async () => (await idsOf(stream)).length === 1);
    fixture.proxy.cut();
    expect(await append).toMatchObject({ revision: 0n });
    expect(await idsOf(stream)).toEqual([event.id]);
  });
});

describe('appends on different connections', () => {
  it('are independent: one does not fail with the other, and a late response does not end the process', async () => {
    const elsewhere = await TcpProxy.start(fixture.infra.portOf('eventStore'));
    const store = connectEventStore({ url: `esdb://127.0.0.1:${elsewhere.port}?tls=false`, log: quietLog });
    const [one, two] = [newStream('agent'), newStream('agent')];
    await Promise.all([fixture.proxied.ping(), store.ping()]);
    await store.append(newStream('agent'), [newEvent()], 'no_stream');
    elsewhere.holdResponses();
    const responded = { late: false };
    const late = store.append(two, [newEvent()], 'no_stream').finally(() => (responded.late = true));
    await eventually(async () => (await idsOf(two)).length === 1);
    fixture.proxy.dropResponses();
    const broken = fixture.proxied.append(one, [newEvent()], 'no_stream');
    await eventually(async () => (await idsOf(one)).length === 1);
    fixture.proxy.cut();
    await broken;
    expect(responded.late).toBe(false);
    elsewhere.thaw();
    expect(await late).toMatchObject({ revision: 0n });
    expect([await idsOf(one), await idsOf(two)].map(({ length }) => length)).toEqual([1, 1]);
    await store.close();
    await elsewhere.stop();
  });
});

describe('a store that is unavailable', () => {
  it('makes calls fail as unavailable within five seconds, and is used again when it is back', async () => {
    fixture.proxy.cut({ refuse: true });
    const calls = [
      fixture.proxied.append(newStream('agent'), [newEvent()], 'no_stream'),
      fixture.proxied.read(newStream('agent')),
      fixture.proxied.head(),
      fixture.proxied.ping(),
    ];
    for (const { failure, millis } of await Promise.all(calls.map(outcomeOf))) {
      expect(failure).toEqual(unavailable);
      expect(millis).toBeLessThan(5_000);
    }
    fixture.proxy.restore();
    await eventually(() => fixture.proxied.ping());
  });

  it('because it is frozen makes calls fail within five seconds, and is used again when it thaws', async () => {
    await fixture.proxied.ping();
    fixture.proxy.freeze();
    const stream = newStream('agent');
    const event = newEvent();
    const calls = [fixture.proxied.append(stream, [event], 'no_stream'), fixture.proxied.read(stream)];
    for (const { failure, millis } of await Promise.all(calls.map(outcomeOf))) {
      expect(failure).toEqual(unavailable);
      expect(millis).toBeLessThan(5_000);
    }
    fixture.proxy.thaw();
    expect(await fixture.proxied.append(stream, [event], 'no_stream')).toMatchObject({ revision: 0n });
    expect(await idsOf(stream)).toEqual([event.id]);
  });

  it('because it is frozen does not write an append that had failed by the time it thaws', async () => {
    const part = fixture.infra.part('eventStore');
    const stream = newStream('agent');
    await fixture.direct.ping();
    part.kill('SIGSTOP');
    const { failure } = await outcomeOf(fixture.direct.append(stream, [newEvent()], 'no_stream'));
    expect(failure).toEqual(unavailable);
    // By then, the client has reset the calls.
    await outcomeOf(fixture.direct.ping());
    part.kill('SIGCONT');
    await fixture.direct.append(newStream('agent'), [newEvent()], 'no_stream');
    expect(await idsOf(stream)).toEqual([]);
  });

  it('because its connection died silently gets a new connection', async () => {
    const store = connectEventStore({ url: fixture.proxiedUrl, log: quietLog });
    const received = record(store, { from: 'start', categories: ['nothing'] });
    await eventually(() => received.items.length > 0);
    const before = fixture.proxy.connections;
    fixture.proxy.freezeOpen();
    const stream = newStream('agent');
    const event = newEvent();
    await eventually(() => store.append(stream, [event], 'no_stream'), { timeoutMs: 25_000 });
    expect(await idsOf(stream)).toEqual([event.id]);
    await received.stop();
    await store.close();
    await eventually(() => fixture.proxy.connections <= before, { timeoutMs: 20_000 });
  });

  it('for a short while keeps its connection', async () => {
    await fixture.proxied.ping();
    const { accepted } = fixture.proxy;
    fixture.proxy.freeze();
    const { failure } = await outcomeOf(fixture.proxied.head());
    expect(failure).toEqual(unavailable);
    fixture.proxy.thaw();
    await fixture.proxied.ping();
    expect(fixture.proxy.accepted).toBe(accepted);
  });

  it('because it was killed is used again on the same port', async () => {
    const part = fixture.infra.part('eventStore');
    const { pid } = part;
    part.kill('SIGKILL');
    await eventually(() => part.pid !== undefined && part.pid !== pid, { timeoutMs: 15_000 });
    await eventually(() => fixture.direct.ping(), { timeoutMs: 15_000 });
    await fixture.direct.append(newStream('agent'), [newEvent()], 'no_stream');
  });
});

describe('a URL', () => {
  it.each(['http://u:secret@x', 'esdb://u:secret@host:port', 'esdb://h:2113?tls=maybe&x=secret', ''])(
    'that is invalid (%s) is rejected with an error that does not contain it',
    (url) => {
      expect(() => connectEventStore({ url, log: quietLog })).toThrow(/^(?!.*secret).*esdb:\/\//);
    },
  );

  it('with TLS must contain credentials, because without them all appends share one call', () => {
    expect(() => connectEventStore({ url: 'esdb://host:2113', log: quietLog })).toThrow(/password/);
    expect(() => connectEventStore({ url: 'esdb://u:p@host:2113', log: quietLog })).not.toThrow();
  });
});
