import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ServiceConnectionError, type Berth } from './index.js';
import { atOnce, json, rejection, TestServer } from './server.fixture.js';

let server: TestServer;
beforeAll(async () => (server = await TestServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

const never = (): void => undefined;
const SHORT = { timeout: 150 };

/** Milliseconds until `work` is rejected, and with what. */
const timed = async (work: Promise<unknown>): Promise<{ error: unknown; ms: number }> => {
  const begun = performance.now();
  const error = await rejection(work);
  return { error, ms: performance.now() - begun };
};

describe('a time-out', () => {
  it('ends a call that is not answered, as a ServiceConnectionError', async () => {
    server.answer = never;
    const { error, ms } = await timed(server.client().agents.get('a', {}, SHORT));
    expect(error).toBeInstanceOf(ServiceConnectionError);
    expect(error).toMatchObject({ code: 'timeout', status: undefined, cause: { name: 'TimeoutError' } });
    expect(ms).toBeGreaterThanOrEqual(145);
    expect(server.received).toHaveLength(1);
  });

  it('ends an answer that does not go on, and a fetch that heeds no signal', async () => {
    server.answer = (_, response) => response.writeHead(200).write('{');
    expect(await rejection(server.client(SHORT).health())).toMatchObject({ code: 'timeout' });
    const deaf = server.client({ ...SHORT, fetch: () => new Promise<Response>(never) });
    expect(await rejection(deaf.health())).toMatchObject({ code: 'timeout' });
  });

  it('bounds a call with its repeats', async () => {
    server.answers(atOnce(503), never);
    const { error, ms } = await timed(server.client({ timeout: 300, maxRetries: 5 }).health());
    expect(error).toMatchObject({ code: 'timeout' });
    expect(ms).toBeLessThan(5_000);
    expect(server.received).toHaveLength(2);
  });

  it.each<[string, number, (berth: Berth) => Promise<unknown>]>([
    ['a call', 90_000, (berth) => berth.health()],
    ['a chat', 620_000, (berth) => berth.agents.chat('a', 'hi')],
    ['actions', 700_000, (berth) => berth.computers.actions('a', [])],
    ['a command', 90_000, (berth) => berth.agents.exec('a', 'ls')],
    ['a short command', 90_000, (berth) => berth.agents.exec('a', 'ls', { timeout: 5 })],
    ['a long command', 130_000, (berth) => berth.agents.exec('a', 'ls', { timeout: 100 })],
    ['a long command of a computer', 130_000, (berth) => berth.computers.exec('a', 'ls', { timeout: 100 })],
    ['a stop that lets chats end', 690_000, (berth) => berth.agents.stop('a', { drainSeconds: 600 })],
    ['an upload', 3_600_000, (berth) => berth.files.upload('a', 'text', { name: 'n' })],
    ['an upload to a computer', 3_600_000, (berth) => berth.computers.upload('a', 'x', 'text')],
    ['a write', 3_600_000, (berth) => berth.files.write('a', 'x', 'text')],
  ])('of %s is %i ms by default', async (_, ms, call) => {
    const timers: number[] = [];
    const { setTimeout: real } = globalThis;
    globalThis.setTimeout = ((work: () => void, after: number) => {
      timers.push(after);
      return real(work, after);
    }) as typeof setTimeout;
    try {
      await call(server.client({ fetch: () => Promise.resolve(Response.json({ exitCode: 0 })) }));
    } finally {
      globalThis.setTimeout = real;
    }
    expect(timers).toEqual([ms]);
  });

  it('that is given holds, also below the one of a command and beyond what timers can', async () => {
    server.answer = never;
    const call = server.client().agents.exec('a', 'ls', { timeout: 100 }, SHORT);
    expect(await rejection(call)).toMatchObject({ code: 'timeout' });
    server.reset();
    expect(await server.client({ timeout: 2 ** 40 }).health()).toEqual({});
    expect(await server.client().health({ timeout: Infinity })).toEqual({});
  });

  it("does not depend on Node's own limits, nor on those of a dispatcher of the caller", async () => {
    await server.client().health();
    const known = globalThis as unknown as Record<
      symbol,
      { constructor: new (limits: object) => object } | object
    >;
    const symbol = [2, 1]
      .map((version) => Symbol.for(`undici.globalDispatcher.${version}`))
      .find((one) => one in known);
    if (symbol === undefined) throw new Error('This Node has no dispatcher.');
    const before = known[symbol] as { constructor: new (limits: object) => object };
    known[symbol] = new before.constructor({ headersTimeout: 100, bodyTimeout: 100 });
    server.answer = (_, response) => setTimeout(() => json(response, 200, { late: true }), 1_700);
    try {
      const own = rejection(globalThis.fetch(server.url));
      expect(await server.client().health()).toEqual({ late: true });
      expect(await own).toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
    } finally {
      known[symbol] = before;
    }
  });
});

describe('a signal', () => {
  it('that is aborted sends nothing', async () => {
    const reason = new Error('not now');
    const signal = AbortSignal.abort(reason);
    expect(await rejection(server.client().health({ signal }))).toBe(reason);
    expect(server.received).toEqual([]);
  });

  it('ends a call at once with its reason, and is not repeated', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    server.answer = () => controller.abort(reason);
    const call = server.client().agents.create({ name: 'a', templateId: 'e' }, { signal: controller.signal });
    expect(await rejection(call)).toBe(reason);
    expect(server.received).toHaveLength(1);
  });

  it('ends the wait before a repeat, and a list between its pages', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    server.answer = (_, response) => {
      json(response, 503, {}, { 'retry-after': '30' });
      response.on('finish', () => setTimeout(() => controller.abort(reason), 20));
    };
    expect(await rejection(server.client().health({ signal: controller.signal }))).toBe(reason);
    const next = new AbortController();
    server.answer = (_, response) => {
      json(response, 200, { items: [1], nextCursor: 'c' });
    };
    const seen: unknown[] = [];
    const all = async (): Promise<void> => {
      for await (const item of server.client().agents.list({}, { signal: next.signal })) {
        seen.push(item);
        if (seen.length === 2) next.abort(reason);
      }
    };
    expect(await rejection(all())).toBe(reason);
    expect(seen).toHaveLength(2);
  });
});
