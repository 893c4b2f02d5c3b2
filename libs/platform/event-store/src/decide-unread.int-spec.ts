import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { outcomeOf, startStoreFixture, type StoreFixture } from './fixtures/store-fixture.js';
import {
  commandMeta as meta,
  losingStore,
  newTally,
  tallyCodec,
  tallyHandler,
  watchedStore,
} from './fixtures/tally-fixture.js';

const NEW = { expectNew: true };

let fixture: StoreFixture;
/** Two processes; the calls of the first one are recorded. */
let here: ReturnType<typeof tallyHandler>;
let there: ReturnType<typeof tallyHandler>;
let calls: string[];
let id: string;

beforeAll(async () => {
  fixture = await startStoreFixture();
});

beforeEach(() => {
  const watched = watchedStore(fixture.direct);
  calls = watched.calls;
  here = tallyHandler(watched.store);
  there = tallyHandler(fixture.direct);
  id = newTally();
});

afterAll(() => fixture.stop());

const callsOf = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  calls.length = 0;
  await work();
  return [...calls];
};

const amounts = async (): Promise<unknown[]> =>
  (await fixture.direct.read(`tally-${id}`)).map(({ data }) => data['amount']);

describe('a command on a stream that no other process has written to', () => {
  it('needs one append and no read on a new stream, and so do later commands', async () => {
    const made = await callsOf(async () => {
      await here.handle(id, { add: 1, twice: true }, meta('cmd_1'), NEW);
      await here.handle(id, { add: 2 }, meta('cmd_2'));
      expect(await here.handle(id, { add: 3 }, meta('cmd_3'), NEW)).toMatchObject({ state: 7, revision: 3n });
    });
    expect(made).toEqual(['append at no_stream', 'append at 1', 'append at 2']);
    expect(await amounts()).toEqual([1, 1, 2, 3]);
    expect(await there.load(id)).toEqual({ state: 7, revision: 3n });
  });

  it('needs one append and no read on a stream that was read once', async () => {
    await there.handle(id, { add: 1 }, meta('cmd_1'));
    await here.load(id);
    expect(await callsOf(() => here.handle(id, { add: 2 }, meta('cmd_2')))).toEqual(['append at 0']);
  });

  it('reads first when the stream is not cached', async () => {
    const made = await callsOf(() => here.handle(id, { add: 1 }, meta('cmd_1')));
    expect(made).toEqual(['read from the start', 'append at no_stream']);
  });

  it('is decided on the events as the log stores them, not as the decider returned them', async () => {
    const rounding = {
      ...tallyCodec,
      toStored: ({ amount }: { amount: number }) => tallyCodec.toStored({ amount: Math.round(amount) }),
    };
    const handler = tallyHandler(fixture.direct, { codec: rounding });
    expect(await handler.handle(id, { add: 1.4 }, meta('cmd_1'), NEW)).toMatchObject({ state: 1 });
    expect(await handler.handle(id, { upTo: 2 }, meta('cmd_2'))).toMatchObject({ state: 2 });
    expect(await amounts()).toEqual([1, 1]);
  });

  it('writes no event that could not be read back', async () => {
    const forgetful = { ...tallyCodec, toStored: () => ({ type: 'Unheard', data: {} }) };
    const handler = tallyHandler(fixture.direct, { codec: forgetful });
    await expect(handler.handle(id, { add: 1 }, meta('cmd_1'), NEW)).rejects.toThrow('Unknown event Unheard');
    expect(await amounts()).toEqual([]);
  });
});

describe('a command on a stream that another process has written to since', () => {
  beforeEach(() => here.handle(id, { add: 900 }, meta('cmd_1'), NEW));

  it('is not refused because of an outdated state', async () => {
    await there.handle(id, { add: -500 }, meta('cmd_2'));
    const made = await callsOf(async () => {
      expect(await here.handle(id, { add: 600 }, meta('cmd_3'))).toMatchObject({ state: 1_000 });
    });
    expect(made).toEqual(['read from 0', 'append at 1']);
  });

  it('is refused because of the current state', async () => {
    await there.handle(id, { add: 100 }, meta('cmd_2'));
    const made = await callsOf(async () => {
      const { failure } = await outcomeOf(here.handle(id, { add: 50 }, meta('cmd_3')));
      expect(failure).toMatchObject({ code: 'full', context: { total: 1_000 } });
    });
    expect(made).toEqual(['append at 0', 'read from 0']);
    expect(await amounts()).toEqual([900, 100]);
  });

  it('is not considered done because of an outdated state', async () => {
    await there.handle(id, { add: -500 }, meta('cmd_2'));
    const made = await callsOf(async () => {
      expect(await here.handle(id, { upTo: 700 }, meta('cmd_3'))).toMatchObject({
        state: 700,
        events: [{ amount: 300 }],
      });
    });
    expect(made).toEqual(['read from 0', 'append at 1']);
  });

  it('is considered done because of the current state', async () => {
    await there.handle(id, { upTo: 950 }, meta('cmd_2'));
    const already = { state: 950, events: [], revision: 1n, position: null, replayed: false };
    expect(await here.handle(id, { upTo: 950 }, meta('cmd_3'))).toEqual(already);
    expect(await amounts()).toEqual([900, 50]);
  });

  it('is executed, regardless of which process wrote last', async () => {
    for (let n = 0; n < 10; n++) {
      const handler = n % 2 === 0 ? there : here;
      expect(await handler.handle(id, { add: 1 }, meta(`cmd_at_${n}`))).toMatchObject({ state: 901 + n });
    }
    expect(await amounts()).toHaveLength(11);
  });
});

describe('a stream that is assumed to be new but exists', () => {
  it('is read before a command is executed, refused or considered done', async () => {
    await there.handle(id, { add: 900 }, meta('cmd_1'));
    expect(await here.handle(id, { add: 50 }, meta('cmd_2'), NEW)).toMatchObject({ state: 950 });
    const others = [tallyHandler(fixture.direct), tallyHandler(fixture.direct)] as const;
    const { failure } = await outcomeOf(others[0].handle(id, { add: 100 }, meta('cmd_3'), NEW));
    expect(failure).toMatchObject({ code: 'full', context: { total: 950 } });
    const already = await others[1].handle(id, { upTo: 950 }, meta('cmd_4'), NEW);
    expect(already).toMatchObject({ state: 950, events: [], revision: 1n });
    expect(await amounts()).toEqual([900, 50]);
  });

  it('is read before a command on it is refused, even if it is new', async () => {
    const made = await callsOf(async () => {
      const { failure } = await outcomeOf(here.handle(id, { add: 2_000 }, meta('cmd_1'), NEW));
      expect(failure).toMatchObject({ code: 'full', context: { total: 0 } });
    });
    expect(made).toEqual(['read from the start']);
  });
});

describe('a repeated command', () => {
  it('returns its first result and the current state with one read', async () => {
    const first = await here.handle(id, { add: 600, twice: false }, meta('cmd_1'), NEW);
    await here.handle(id, { add: 1 }, meta('cmd_2'));
    await there.handle(id, { add: 300 }, meta('cmd_3'));
    const made = await callsOf(async () => {
      expect(await here.handle(id, { add: 600 }, meta('cmd_1'))).toEqual({
        state: 901,
        events: [{ amount: 600 }],
        revision: 2n,
        position: first.position,
        replayed: true,
      });
    });
    expect(made).toEqual(['read from 0']);
    // That read serves the next command, too.
    expect(await callsOf(() => here.handle(id, { add: 1 }, meta('cmd_4')))).toEqual(['append at 2']);
  });

  it('in another process is executed once and returns the first decision', async () => {
    const first = await there.handle(id, { add: 5 }, meta('cmd_1'), NEW);
    // Represents the same command with a later time in it, which decides another event.
    const again = await here.handle(id, { add: 7 }, meta('cmd_1'), NEW);
    expect(again).toEqual({ ...first, replayed: true });
    expect(await here.handle(id, { add: 1 }, meta('cmd_2'))).toMatchObject({ state: 6 });
    expect(await amounts()).toEqual([5, 1]);
  });

  it('in another process returns the current state, even if it decides the same events', async () => {
    const first = await there.handle(id, { add: 5 }, meta('cmd_1'), NEW);
    await there.handle(id, { add: 10 }, meta('cmd_2'));
    const again = await here.handle(id, { add: 5 }, meta('cmd_1'), NEW);
    expect(again).toEqual({ ...first, state: 15, revision: 1n, replayed: true });
    expect(await amounts()).toEqual([5, 10]);
  });

  it('in another process that decides only the first of its events is executed once', async () => {
    await there.handle(id, { add: 5, twice: true }, meta('cmd_1'), NEW);
    const again = await here.handle(id, { add: 5 }, meta('cmd_1'), NEW);
    expect(again).toMatchObject({ state: 10, events: [{ amount: 5 }, { amount: 5 }], replayed: true });
    expect(await amounts()).toEqual([5, 5]);
  });

  it('is executed once when other events were written since, and the cached state contains neither those nor its own', async () => {
    await here.handle(id, { add: 1 }, meta('cmd_1'), NEW);
    await there.handle(id, { add: 2 }, meta('cmd_2'));
    await there.handle(id, { add: 3 }, meta('cmd_3'));
    const again = await here.handle(id, { add: 2 }, meta('cmd_2'));
    expect(again).toMatchObject({ state: 6, events: [{ amount: 2 }], revision: 2n, replayed: true });
    expect(await amounts()).toEqual([1, 2, 3]);
  });

  it('after a lost response is executed once in the same process', async () => {
    const handler = tallyHandler(losingStore(fixture.direct, new Set(['cmd_1', 'cmd_2'])));
    for (const commandId of ['cmd_1', 'cmd_2']) {
      const command = () => handler.handle(id, { add: 5 }, meta(commandId), NEW);
      await expect(command()).rejects.toMatchObject({ kind: 'unavailable' });
      expect(await command()).toMatchObject({ events: [{ amount: 5 }], replayed: true });
    }
    expect(await amounts()).toEqual([5, 5]);
  });
});
