import { DomainError, effectOf } from '@berth/kernel';
import { requestContext } from '@berth/telemetry';
import { Controller, Module } from '@nestjs/common';
import { ClientNats } from '@nestjs/microservices';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { firstValueFrom } from 'rxjs';
import { echoModule, echoRequests } from './__fixtures__/echo-service.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { WAYS } from './__fixtures__/ways-of-requests.fixture.js';
import { SILENCE_MS } from './pending-requests.js';
import { HandleRequest, NatsLink, Requester, startService, type ProcessHandlers } from './index.js';

describe.each(WAYS)('requests between services, %s,', (_, handlersOf) => {
  const handlers = handlersOf();
  let nats: NatsServerFixture;
  let link: NatsLink;
  let requester: Requester;
  const { log, lines } = keepingLogger();
  const running: { stop(): Promise<void> }[] = [];

  const serve = (by: string, host?: string) => serveIn(handlers, by, host);

  const serveElsewhere = (by: string, host: string) => serveIn(undefined, by, host);

  const serveIn = async (
    process: ProcessHandlers | undefined,
    by: string,
    host?: string,
  ): Promise<() => Promise<void>> => {
    const serviceLink = await NatsLink.open({ url: nats.url, name: by, handlers: process, log });
    const service = await startService({
      name: 'echo',
      module: echoModule(by),
      link: serviceLink,
      log,
      ...(host === undefined ? {} : { host }),
    });
    const stop = async (): Promise<void> => service.stop().finally(() => serviceLink.close());
    running.push({ stop });
    return stop;
  };

  beforeAll(async () => {
    nats = await NatsServerFixture.start();
    link = await NatsLink.open({ url: nats.url, name: 'caller', handlers, log });
    requester = new Requester(link);
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.stop()));
  });
  afterAll(async () => {
    await link.close();
    await nats.stop();
  });

  const failure = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('return the reply, and pass the request id to the handler', async () => {
    await serve('one', 'h1');
    const response = await requestContext.run({ requestId: 'req-77' }, () =>
      requester.request(echoRequests.echo, { text: 'ü' }),
    );
    expect(response).toEqual({ text: 'ü', by: 'one', requestId: 'req-77' });
  });

  it('each get their own reply when hundreds are in flight', async () => {
    await serve('one', 'h1');
    const texts = Array.from({ length: 500 }, (_, index) => String(index));
    const responses = await Promise.all(texts.map((text) => requester.request(echoRequests.echo, { text })));
    expect(responses.map(({ text }) => text)).toEqual(texts);
  });

  it('throw the DomainError with which the handler refused', async () => {
    await serve('one', 'h1');
    const error = await failure(requester.request(echoRequests.refuse, null));
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({
      kind: 'conflict',
      code: 'agent_deploying',
      message: 'Wait for it.',
      context: { agentId: 'agt_1', nested: [1, null] },
    });
    expect(effectOf(error)).not.toBe('none');
  });

  it('reveal nothing about an internal failure, which is logged with the request id', async () => {
    await serve('one', 'h1');
    const error = await requestContext.run({ requestId: 'req-broken' }, () =>
      failure(requester.request(echoRequests.breakDown, null)),
    );
    expect(error).toMatchObject({
      kind: 'internal',
      code: 'internal_error',
    });
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(lines.filter((line) => line.includes('"requestId":"req-broken"'))).toHaveLength(1);
  });

  it('fail immediately when no service subscribes', async () => {
    const startedAt = Date.now();
    const error = await failure(requester.request(echoRequests.echo, { text: '' }));
    expect(error).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(effectOf(error)).toBe('none');
    expect(Date.now() - startedAt).toBeLessThan(SILENCE_MS);
  });

  it('end with their deadline', async () => {
    await serve('one', 'h1');
    const error = await failure(requester.request(echoRequests.wait, { ms: 1_000 }, { deadlineMs: 100 }));
    expect(error).toMatchObject({ kind: 'timeout', code: 'deadline_exceeded' });
  });

  it('wait longer than the silence limit while heartbeats arrive', async () => {
    await serve('one', 'h1');
    await expect(requester.request(echoRequests.wait, { ms: 5_000 })).resolves.toBe('one');
  });

  it('are shared by the instances of a service in other processes', async () => {
    await serveElsewhere('one', 'h1');
    await serveElsewhere('two', 'h2');
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => requester.request(echoRequests.echo, { text: '' })),
    );
    expect(new Set(responses.map(({ by }) => by))).toEqual(new Set(['one', 'two']));
    expect(responses).toHaveLength(100);
  });

  it('from any host reach the service, unless they name another host than the one that sends them', async () => {
    await serve('one', 'h9');
    const { fromHost } = echoRequests;
    await expect(requester.request(fromHost, { host: 'h1' }, { host: 'h1' })).resolves.toBe('h1');
    await expect(requester.request(fromHost, { host: 'h2' }, { host: 'h2' })).resolves.toBe('h2');
    await expect(failure(requester.request(fromHost, { host: 'h2' }, { host: 'h1' }))).resolves.toMatchObject(
      { kind: 'invalid', message: 'A host reports only about itself.' },
    );
  });

  it('reach the host they name, and no other', async () => {
    await serve('one', 'h1');
    await serve('two', 'h2');
    await expect(requester.request(echoRequests.onHost, null, { host: 'h2' })).resolves.toBe('two');
    await expect(requester.request(echoRequests.onHost, null, { host: 'h1' })).resolves.toBe('one');
    await expect(
      failure(requester.request(echoRequests.onHost, null, { host: 'h3' })),
    ).resolves.toMatchObject({
      kind: 'unavailable',
    });
    await expect(
      failure(requester.request(echoRequests.onHost, null, { host: 'h.>' })),
    ).resolves.toBeInstanceOf(Error);
    await expect(failure(requester.request(echoRequests.onHost, null))).resolves.toBeInstanceOf(Error);
  });

  it('reach every instance when they are broadcast', async () => {
    await serve('one', 'h1');
    await serve('two', 'h2');
    const responses = await requester.requestAll(echoRequests.whoIsThere, null, { waitMs: 300 });
    expect([...responses].sort()).toEqual(['one', 'two']);
  });

  it('return an empty list for a broadcast without subscribers', async () => {
    await expect(requester.requestAll(echoRequests.whoIsThere, null, { waitMs: 5_000 })).resolves.toEqual([]);
  });

  it('larger than the broker accepts are refused before they are sent', async () => {
    await serve('one', 'h1');
    const error = await failure(requester.request(echoRequests.echo, { text: 'x'.repeat(1_048_576) }));
    expect(error).toMatchObject({ kind: 'too_large', code: 'payload_too_large' });
    expect(effectOf(error)).toBe('none');
    await expect(
      requester.request(echoRequests.echo, { text: 'y'.repeat(1_000_000) }),
    ).resolves.toMatchObject({ by: 'one' });
  });

  it('whose reply is larger than the broker accepts end as an internal error, and the link survives', async () => {
    await serve('one', 'h1');
    await expect(failure(requester.request(echoRequests.grow, { bytes: 2_000_000 }))).resolves.toMatchObject({
      kind: 'internal',
    });
    await expect(requester.request(echoRequests.grow, { bytes: 10 })).resolves.toBe('xxxxxxxxxx');
  });

  it('whose reply is not valid JSON end as an internal error', async () => {
    await serve('one', 'h1');
    await expect(failure(requester.request(echoRequests.count, null))).resolves.toMatchObject({
      kind: 'internal',
    });
  });

  it.each(['', '{', '[]', 'null', '"text"', '{"data":1}', '{"id":7}', '{"id":null,"data":{}}'])(
    'that are malformed (%s) get an error response',
    async (bytes) => {
      await serve('one', 'h1');
      const reply = await link.connection.request('berth.qry.echo.echo.v1', bytes, { timeout: 2_000 });
      expect(reply.json()).toMatchObject({
        err: { kind: 'invalid', code: 'invalid_request' },
        isDisposed: true,
      });
    },
  );

  it('that are malformed and without a reply subject have no effect', async () => {
    await serve('one', 'h1');
    link.connection.publish('berth.qry.echo.echo.v1', '{');
    await expect(requester.request(echoRequests.echo, { text: 'on' })).resolves.toMatchObject({ text: 'on' });
  });

  it('are not lost when a service stops: running handlers finish, later requests reach another instance', async () => {
    const stop = await serve('one', 'h1');
    const started = Array.from({ length: 10 }, () => requester.request(echoRequests.wait, { ms: 500 }));
    // The requester holds back what it sends until the end of the event loop's turn.
    link.outgoing.flush();
    await link.connection.flush();
    const stopped = stop();
    await expect(Promise.all(started)).resolves.toHaveLength(10);
    await stopped;
    await expect(failure(requester.request(echoRequests.echo, { text: '' }))).resolves.toMatchObject({
      kind: 'unavailable',
    });
  });

  it('can come from a plain Nest client, which gets no heartbeats', async () => {
    await serve('one', 'h1');
    const client = new ClientNats({ servers: [nats.url] });
    try {
      await expect(firstValueFrom(client.send('berth.cmd.echo.wait.v1', { ms: 2_500 }))).resolves.toBe('one');
    } finally {
      await client.close();
    }
  });

  it('prevent the start when two handlers have the same subject', async () => {
    @Controller()
    class Twice {
      @HandleRequest(echoRequests.refuse)
      a() {
        return Promise.resolve();
      }
      @HandleRequest(echoRequests.refuse)
      b() {
        return Promise.resolve();
      }
    }
    @Module({ controllers: [Twice] })
    class TwiceModule {}
    await expect(startService({ name: 'twice', module: TwiceModule, link, log })).rejects.toThrow(
      /two handlers/,
    );
  });
});
