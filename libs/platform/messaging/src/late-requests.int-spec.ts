import { defineRequest, effectOf } from '@berth/kernel';
import { requestContext } from '@berth/telemetry';
import { eventually, runningTime, TcpProxy } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsCluster } from './__fixtures__/nats-cluster.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { passOnRequests } from './__fixtures__/pass-on-requests.fixture.js';
import { WAYS } from './__fixtures__/ways-of-requests.fixture.js';
import { WaitingProcess } from './__fixtures__/waiting-process.js';
import { BerthNatsServer, NatsLink, Requester, type ProcessHandlers } from './index.js';
import { processClock, type MonotonicClock } from './monotonic-clock.js';
import { FIRST_SIGN_MS, SILENCE_MS } from './pending-requests.js';
import { HEADERS } from './request-wire.js';

const { log } = keepingLogger();
const patiently = { timeoutMs: 15_000 };
const act = defineRequest<string, string>('cmd.late.act.v1', 20_000);
const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const open = async (url: string, handlers?: ProcessHandlers): Promise<NatsLink> => {
  const link = await NatsLink.open({ url, name: 'late', handlers, log });
  cleanUps.push(() => link.close());
  return link;
};

/** Handles `act` and records the requests. */
const serve = async (link: NatsLink, clock = processClock): Promise<string[]> => {
  const done: string[] = [];
  const server = new BerthNatsServer({ link, queue: 'late', log, clock });
  server.addHandler(act.subject, (what: string) => {
    done.push(what);
    return Promise.resolve(what);
  });
  await server.listen(() => undefined);
  cleanUps.push(() => server.close());
  return done;
};

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The clock of another host. */
const clockAhead = (ms: number): MonotonicClock => ({ id: `ahead${ms}`, now: () => processClock.now() + ms });

const CLOCKS: readonly (readonly [string, MonotonicClock])[] = [
  ['the same clock', processClock],
  ['a clock that is hours behind', clockAhead(-10_000_000)],
  ['a clock that is hours ahead', clockAhead(10_000_000)],
];

describe('requests that the broker held', () => {
  it('are not started after their callers gave up, whatever the clocks of known and unknown senders show', async () => {
    const cluster = await NatsCluster.start(['left', 'right']);
    cleanUps.push(() => cluster.stop());
    const done = await serve(await open(cluster.server(0).url));
    const link = await open(cluster.server(1).url);
    const known = CLOCKS.map(([, clock]) => new Requester(link, clock));
    const unknown = [new Requester(link, clockAhead(-5_000_000)), new Requester(link, clockAhead(5_000_000))];
    await eventually(() => Promise.all(known.map((requester) => requester.request(act, 'first'))), patiently);
    done.length = 0;
    await cluster.server(1).freeze();
    const held = [...known, ...unknown].map((requester) => failure(requester.request(act, 'held')));
    for (const error of await Promise.all(held)) expect(error).toMatchObject({ kind: 'unavailable' });
    cluster.server(1).thaw();
    await eventually(() => known[0]?.request(act, 'last'), patiently);
    expect(done).toEqual(['last']);
  });
});

describe('a caller that loses the broker', () => {
  let nats: NatsServerFixture;
  beforeEach(async () => {
    nats = await NatsServerFixture.start();
    cleanUps.push(() => nats.stop());
  });

  const proxied = async (): Promise<{ readonly proxy: TcpProxy; readonly link: NatsLink }> => {
    const proxy = await TcpProxy.start(nats.port);
    cleanUps.push(() => proxy.stop());
    return { proxy, link: await open(`nats://127.0.0.1:${proxy.port}`) };
  };

  it('fails only when the handler no longer starts its request', async () => {
    const failedAt: number[] = [];
    const clock: MonotonicClock = { id: 'shared', now: () => failedAt[0] ?? processClock.now() };
    const [caller, handler] = [await proxied(), await proxied()];
    const done = await serve(handler.link, clock);
    const requester = new Requester(caller.link, clock);
    await requester.request(act, 'first');
    handler.proxy.holdResponses();
    const held = failure(requester.request(act, 'held'));
    caller.link.outgoing.flush();
    await caller.link.connection.flush();
    caller.proxy.cut({ refuse: true });
    expect(await held).toMatchObject({ kind: 'unavailable' });
    // At any later time the request is only older.
    failedAt.push(processClock.now());
    handler.proxy.thaw();
    await new Requester(await open(nats.url)).request(act, 'last');
    expect(done).toEqual(['first', 'last']);
  });

  it('waits the usual time for a request that it sent after an earlier, short interruption', async () => {
    const caller = await proxied();
    const { connection } = await open(nats.url);
    connection.subscribe('>', { callback: () => undefined });
    await connection.flush();
    const requester = new Requester(caller.link);
    const back = Promise.withResolvers<undefined>();
    caller.link.onReconnect(() => back.resolve(undefined));
    caller.proxy.cut();
    await back.promise;
    const sentAt = processClock.now();
    const sent = failure(requester.request(act, 'sent'));
    caller.link.outgoing.flush();
    await caller.link.connection.flush();
    caller.proxy.cut({ refuse: true });
    expect(await sent).toMatchObject({ kind: 'unavailable' });
    expect(processClock.now() - sentAt).toBeGreaterThan(FIRST_SIGN_MS);
  });
});

describe('a request of another host', () => {
  it.each(CLOCKS)('is started immediately, by %s', async (_, clock) => {
    const nats = await NatsServerFixture.start();
    cleanUps.push(() => nats.stop());
    const done = await serve(await open(nats.url));
    const requester = new Requester(await open(nats.url), clock);
    const wanted = Array.from({ length: 50 }, (_unused, index) => String(index));
    await Promise.all(wanted.map((what) => requester.request(act, what)));
    expect(done.toSorted()).toEqual(wanted.toSorted());
    const time = runningTime();
    await requester.request(act, 'more');
    expect(time.stop()).toBeLessThan(500);
  });

  it.each(CLOCKS)(
    'causes at most one question to its caller while first attempts get replies, by %s',
    async (_, clock) => {
      const nats = await NatsServerFixture.start();
      cleanUps.push(() => nats.stop());
      await serve(await open(nats.url));
      const { connection } = await open(nats.url);
      const asked: string[] = [];
      connection.subscribe('>', {
        callback: (_error, { headers, subject }) => {
          if (headers?.has(HEADERS.stillWaiting) === true) asked.push(subject);
        },
      });
      await connection.flush();
      const requester = new Requester(await open(nats.url), clock);
      for (let sent = 0; sent < 20; sent++) await requester.request(act, String(sent));
      await connection.flush();
      expect(asked.length).toBeLessThanOrEqual(1);
    },
  );
});

describe('a process that was frozen', () => {
  let nats: NatsServerFixture;
  let child: WaitingProcess;
  let link: NatsLink;
  beforeEach(async () => {
    nats = await NatsServerFixture.start();
    cleanUps.push(() => nats.stop());
    child = WaitingProcess.start(nats.url);
    cleanUps.push(() => child.kill());
    await eventually(() => child.printed('listening'), patiently);
    link = await open(nats.url);
  });

  it('does not start a request that waited in its socket until the caller had given up', async () => {
    const requester = new Requester(link);
    const wait = defineRequest<{ ms: number }, string>('cmd.echo.wait.v1', 20_000);
    await requester.request(wait, { ms: 1 });
    child.signal('SIGSTOP');
    const error = await failure(requester.request(wait, { ms: 1 }));
    expect(error).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    child.signal('SIGCONT');
    await eventually(() => requester.request(wait, { ms: 1 }), patiently);
    expect(child.count('handling')).toBe(2);
  });

  it('does not pass on the work of a caller that has given up', async () => {
    const requester = new Requester(link);
    const gate = Promise.withResolvers<null>();
    let asked = false;
    const begun: unknown[] = [];
    const server = new BerthNatsServer({ link: await open(nats.url), queue: 'next', log });
    server.addHandler(passOnRequests.gate.subject, () => {
      asked = true;
      return gate.promise;
    });
    server.addHandler(passOnRequests.begin.subject, (what: unknown) => {
      begun.push(what);
      return Promise.resolve(null);
    });
    await server.listen(() => undefined);
    cleanUps.push(() => server.close());

    const given = failure(requester.request(passOnRequests.passOn, null));
    await eventually(() => asked, patiently);
    child.signal('SIGSTOP');
    expect(await given).toMatchObject({ kind: 'unavailable' });
    gate.resolve(null);
    child.signal('SIGCONT');
    // A later request is handled, so the first would have been too.
    await eventually(() => requester.request(passOnRequests.passOn, null), patiently);
    expect(begun).toHaveLength(1);
  });
});

describe.each(WAYS)('a handler that was called %s, and whose caller has given up,', (_, handlersOf) => {
  it('learns that from the reply to its heartbeat and starts nothing more; work that continues after its own reply is not affected', async () => {
    const nats = await NatsServerFixture.start();
    cleanUps.push(() => nats.stop());
    const link = await open(nats.url, handlersOf());
    const requester = new Requester(link);
    const begin = defineRequest<string, null>('cmd.late.begin.v1', 5_000, { onlyWhileAwaited: true });
    const begun: string[] = [];
    const gaveUp: unknown[] = [];
    const background: Promise<unknown>[] = [];
    const server = new BerthNatsServer({ link, queue: 'late', log });
    server.addHandler(begin.subject, (what: string) => {
      begun.push(what);
      return Promise.resolve(null);
    });
    const onceGone = async (what: string): Promise<string> => {
      await eventually(() => requestContext.current()?.caller?.gaveUp === true);
      gaveUp.push(await failure(requester.request(begin, what)));
      return what;
    };
    server.addHandler('cmd.late.slow.v1', (what: string) => onceGone(what));
    server.addHandler('cmd.late.behind.v1', (what: string) => {
      background.push(
        new Promise((resolve) => setTimeout(resolve, 4_000)).then(() => requester.request(begin, what)),
      );
      return Promise.resolve(what);
    });
    await server.listen(() => undefined);
    cleanUps.push(() => server.close());

    await requester.request(defineRequest<string, string>('cmd.late.behind.v1'), 'behind');
    const slow = defineRequest<string, string>('cmd.late.slow.v1', 200);
    expect(await failure(requester.request(slow, 'slow'))).toMatchObject({ code: 'deadline_exceeded' });
    await eventually(() => gaveUp.length === 1, patiently);
    expect(gaveUp[0]).toMatchObject({ code: 'service_unavailable' });
    expect(effectOf(gaveUp[0])).toBe('none');
    await Promise.all(background);
    expect(begun).toEqual(['behind']);
  });

  it('passes that on to the handlers that it called, and still gets their replies', async () => {
    const nats = await NatsServerFixture.start();
    cleanUps.push(() => nats.stop());
    const link = await open(nats.url, handlersOf());
    const requester = new Requester(link);
    const begin = defineRequest<null, string>('cmd.late.begin.v1', 20_000, { onlyWhileAwaited: true });
    const replies: unknown[] = [];
    const server = new BerthNatsServer({ link, queue: 'late', log });
    server.addHandler(begin.subject, async () => {
      await eventually(() => requestContext.current()?.caller?.gaveUp === true, patiently);
      // Longer than a caller waits without a heartbeat.
      await new Promise((resolve) => setTimeout(resolve, SILENCE_MS + 500));
      return 'noticed';
    });
    server.addHandler('cmd.late.through.v1', async () => replies.push(await requester.request(begin, null)));
    await server.listen(() => undefined);
    cleanUps.push(() => server.close());

    const through = defineRequest<null, null>('cmd.late.through.v1', 200);
    expect(await failure(requester.request(through, null))).toMatchObject({ code: 'deadline_exceeded' });
    await eventually(() => expect(replies).toEqual(['noticed']), patiently);
  });
});
