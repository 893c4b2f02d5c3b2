import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@berth/testing';
import { requestContext } from '@berth/telemetry';
import { RevisionConflict, type EventStore } from './index.js';
import { outcomeOf, startStoreFixture, type StoreFixture } from './fixtures/store-fixture.js';
import {
  commandMeta as meta,
  losingStore,
  newTally as newId,
  storeWith,
  tallyHandler as handlerOn,
  watchedStore,
} from './fixtures/tally-fixture.js';

let fixture: StoreFixture;

beforeAll(async () => {
  fixture = await startStoreFixture();
});

afterEach(() => fixture.proxy.restore());
afterAll(() => fixture.stop());

describe('a command', () => {
  it('is decided on the events of its stream, and its events record the actor, the command and the request', async () => {
    const handler = handlerOn(fixture.direct);
    const id = newId();
    await handler.handle(id, { add: 1 }, meta('cmd_1'));
    const handled = await requestContext.run({ requestId: 'req_7' }, () =>
      handler.handle(id, { add: 2, twice: true }, meta('cmd_2')),
    );
    expect(handled).toMatchObject({
      state: 5,
      revision: 2n,
      replayed: false,
      events: [{ amount: 2 }, { amount: 2 }],
    });
    const [first, second, third] = await fixture.direct.read(`tally-${id}`);
    expect(first?.metadata).toEqual({
      correlationId: 'cmd_1',
      causationId: 'cmd_1',
      accountId: 'acc_1',
      actor: { kind: 'key', id: 'key_1' },
    });
    expect(second?.metadata).toMatchObject({ correlationId: 'req_7', causationId: 'cmd_2' });
    expect(handled.position).toBe(third?.position);
    expect(await handler.load(id)).toEqual({ state: 5, revision: 2n });
  });

  it('whose caller has given up writes nothing; work that continues after a started command is written', async () => {
    const handler = handlerOn(fixture.direct);
    const id = newId();
    const caller = { gaveUp: false, waitedMs: 0, commandId: 'cmd_1' };
    await requestContext.run({ requestId: 'req_7', caller }, async () => {
      await handler.handle(id, { add: 1 }, meta('cmd_1'));
      caller.gaveUp = true;
      await handler.handle(id, { add: 2 }, meta('cmd_1/end'));
      const { failure } = await outcomeOf(handler.handle(newId(), { add: 4 }, meta('cmd_1')));
      expect(failure).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    });
    expect(await handler.load(id)).toMatchObject({ state: 3 });
  });

  it('without an account fails and writes nothing', async () => {
    const handler = handlerOn(fixture.direct);
    const id = newId();
    const { failure } = await outcomeOf(handler.handle(id, { add: 1 }, { ...meta('cmd_1'), accountId: '' }));
    expect(failure).toBeInstanceOf(Error);
    expect(await fixture.direct.read(`tally-${id}`)).toEqual([]);
  });

  it('that is refused or changes nothing writes nothing', async () => {
    const handler = handlerOn(fixture.direct);
    const id = newId();
    const { failure } = await outcomeOf(handler.handle(id, { add: 2_000 }, meta('cmd_1')));
    expect(failure).toMatchObject({ kind: 'conflict', code: 'full' });
    const nothing = await handler.handle(id, { add: 0 }, meta('cmd_2'));
    expect(nothing).toEqual({ state: 0, events: [], revision: null, position: null, replayed: false });
    expect(await handler.load(id)).toEqual({ state: 0, revision: null });
  });

  it('sent twice is executed once and returns its first result, also after other commands and in another process', async () => {
    const handler = handlerOn(fixture.direct);
    const id = newId();
    const first = await handler.handle(id, { add: 600, twice: false }, meta('cmd_1'));
    await handler.handle(id, { add: 300 }, meta('cmd_2'));
    for (const other of [handler, handlerOn(fixture.proxied)]) {
      // A second decision would refuse it: 900 + 600.
      const again = await other.handle(id, { add: 600 }, meta('cmd_1'));
      expect(again).toMatchObject({
        state: 900,
        events: [{ amount: 600 }],
        position: first.position,
        replayed: true,
      });
    }
    expect(await fixture.direct.read(`tally-${id}`)).toHaveLength(2);
  });

  it('is recognised while it is among the last 64 commands of its stream', async () => {
    const handler = handlerOn(fixture.direct);
    const id = newId();
    for (let n = 0; n <= 64; n++) await handler.handle(id, { add: 1 }, meta(`cmd_${n}`));
    expect(await handler.handle(id, { add: 1 }, meta('cmd_1'))).toMatchObject({ replayed: true });
    expect(await handler.handle(id, { add: 1 }, meta('cmd_0'))).toMatchObject({ replayed: false, state: 66 });
  });

  it('reads stored shapes of earlier versions', async () => {
    const id = newId();
    const event = { id: crypto.randomUUID(), type: 'Added', data: { n: 41 } };
    const metadata = {
      correlationId: 'r',
      causationId: 'c',
      accountId: 'a',
      actor: { kind: 'system', id: 's' } as const,
    };
    await fixture.direct.append(`tally-${id}`, [{ ...event, metadata }], 'no_stream');
    expect(await handlerOn(fixture.direct).handle(id, { add: 1 }, meta('cmd_1'))).toMatchObject({
      state: 42,
    });
  });
});

describe('commands on one stream at the same time', () => {
  it('are all executed, in one process or in several', async () => {
    const handlers = [fixture.direct, fixture.direct, fixture.proxied].map((store) =>
      handlerOn(store, { maxConflicts: 40 }),
    );
    const id = newId();
    const handled = await Promise.all(
      Array.from({ length: 20 }, (_, n) => n).flatMap((n) =>
        handlers.map((handler, h) => handler.handle(id, { add: 1 }, meta(`cmd_${n}_${h}`))),
      ),
    );
    expect(new Set(handled.map((one) => one.state)).size).toBe(60);
    expect(await handlers[0]?.load(id)).toEqual({ state: 60, revision: 59n });
  });

  it('with the same id are executed once, even when two processes decide them concurrently', async () => {
    for (let round = 0; round < 20; round++) {
      const id = newId();
      const handlers = [handlerOn(fixture.direct), handlerOn(fixture.proxied)];
      await Promise.all(handlers.map((handler) => handler.handle(id, { add: 5 }, meta('cmd_1'))));
      for (const handler of handlers) expect(await handler.load(id)).toEqual({ state: 5, revision: 0n });
    }
  });

  it('are decided again at most `maxConflicts` times', async () => {
    let appends = 0;
    const rival = storeWith(fixture.direct, {
      append: (stream) => {
        appends++;
        return Promise.reject(new RevisionConflict(stream, 'no_stream', 0n));
      },
    });
    const { failure } = await outcomeOf(
      handlerOn(rival, { maxConflicts: 3 }).handle(newId(), { add: 1 }, meta('c')),
    );
    expect(failure).toMatchObject({ kind: 'unavailable', cause: expect.any(RevisionConflict) as unknown });
    expect(appends).toBe(4);
  });
});

describe('a command whose response was lost', () => {
  it('is recognised when it is repeated', async () => {
    const id = newId();
    const stream = `tally-${id}`;
    const handler = handlerOn(fixture.proxied);
    await handler.load(id);
    fixture.proxy.dropResponses();
    const lost = outcomeOf(handler.handle(id, { add: 7 }, meta('cmd_1')));
    // The read before the append is lost too; that alone must not write anything.
    expect((await lost).failure).toMatchObject({ kind: 'unavailable' });
    fixture.proxy.cut();
    await eventually(() => handler.load(id));
    await handler.handle(id, { add: 7 }, meta('cmd_1'));
    await handler.handle(id, { add: 7 }, meta('cmd_1'));
    expect(await fixture.direct.read(stream)).toHaveLength(1);
  });

  it('is executed once when the connection broke after the append was written', async () => {
    const id = newId();
    const command = (store: EventStore) => handlerOn(store).handle(id, { add: 7 }, meta('cmd_1'));
    const losing = losingStore(fixture.direct, new Set(['cmd_1']));
    await expect(command(losing)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await command(fixture.direct)).toMatchObject({
      state: 7,
      events: [{ amount: 7 }],
      replayed: true,
    });
  });
});

describe('the state cache', () => {
  it('reads only new events, beside the last one, and evicts the least recently used streams', async () => {
    const { store, calls } = watchedStore(fixture.direct);
    const handler = handlerOn(store, { cacheSize: 2 });
    const [a, b, c] = [newId(), newId(), newId()];
    await handler.handle(a, { add: 1 }, meta('cmd_1'));
    for (const id of [a, b, c, a]) await handler.load(id);
    const [whole, tail] = ['read from the start', 'read from 0'];
    expect(calls).toEqual([whole, 'append at no_stream', tail, whole, whole, tail]);
    await handler.handle(b, { add: 1 }, meta('cmd_1'));
    await handler.handle(c, { add: 1 }, meta('cmd_1'));
    calls.length = 0;
    for (const id of [b, c, a]) await handler.load(id);
    expect(calls).toEqual([tail, tail, whole]);
  });

  it('is what a recalled state comes from, without a read; an unknown stream is read', async () => {
    const { store, calls } = watchedStore(fixture.direct);
    const [handler, other] = [handlerOn(store), handlerOn(fixture.direct)];
    const id = newId();
    expect(await handler.recall(id)).toEqual({ state: 0, revision: null });
    await other.handle(id, { add: 1 }, meta('cmd_1'));
    expect(await handler.recall(id)).toEqual({ state: 1, revision: 0n });
    await other.handle(id, { add: 1 }, meta('cmd_2'));
    calls.length = 0;
    expect(await handler.recall(id)).toEqual({ state: 1, revision: 0n });
    expect(calls).toEqual([]);
    // A decision on it counts only if it is current.
    expect(await handler.handle(id, { add: 1 }, meta('cmd_3'))).toMatchObject({ state: 3 });
  });
});
