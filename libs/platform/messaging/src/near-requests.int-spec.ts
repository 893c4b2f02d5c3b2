import { defineRequest, effectOf } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { echoModule, echoRequests } from './__fixtures__/echo-service.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { BerthNatsServer, NatsLink, ProcessHandlers, Requester, startService } from './index.js';

const { log } = keepingLogger();
const cleanUps: (() => Promise<unknown>)[] = [];
let nats: NatsServerFixture;
let handlers: ProcessHandlers;
let link: NatsLink;
let requester: Requester;

const open = async (name: string, within?: ProcessHandlers): Promise<NatsLink> => {
  const opened = await NatsLink.open({ url: nats.url, name, handlers: within, log });
  cleanUps.push(() => opened.close());
  return opened;
};

const serve = async (by: string, host: string, within?: ProcessHandlers): Promise<() => Promise<void>> => {
  const own = await open(by, within);
  const service = await startService({ name: 'echo', module: echoModule(by), link: own, host, log });
  cleanUps.push(() => service.stop());
  return () => service.stop();
};

/** A server in this process with one handler. */
const handle = async <Payload>(
  subject: string,
  handler: (payload: Payload) => Promise<unknown>,
  drainMs?: number,
): Promise<BerthNatsServer> => {
  const own = await open('near', handlers);
  const server = new BerthNatsServer({
    link: own,
    queue: 'near',
    log,
    ...(drainMs === undefined ? {} : { drainMs }),
  });
  server.addHandler(subject, (payload: Payload) => handler(payload));
  await server.listen(() => undefined);
  cleanUps.push(() => server.close());
  return server;
};

beforeEach(async () => {
  nats = await NatsServerFixture.start();
  cleanUps.push(() => nats.stop());
  handlers = new ProcessHandlers();
  link = await open('caller', handlers);
  requester = new Requester(link);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** What passes the broker, except what the links say about themselves. */
const heardOnBroker = async (): Promise<readonly string[]> => {
  const heard: string[] = [];
  const { connection } = await open('listener');
  connection.subscribe('>', { callback: (_error, { subject }) => void heard.push(subject) });
  await connection.flush();
  return heard;
};

describe('a request to a service of the same process', () => {
  it('does not pass the broker, unless its sender wants to know whether the broker delivers', async () => {
    await serve('one', 'h1', handlers);
    const heard = await heardOnBroker();
    await requester.request(echoRequests.echo, { text: '' });
    await requester.request(echoRequests.onHost, null, { host: 'h1' });
    await requester.request(echoRequests.fromHost, { host: 'h7' }, { host: 'h7' });
    await requester.request(echoRequests.echo, { text: '' }, { overBroker: true });
    await eventually(() => expect(heard).toHaveLength(2));
    expect(heard[0]).toBe('berth.qry.echo.echo.v1');
  });

  it('shares no object with its sender, and carries what JSON can carry', async () => {
    const sent = { list: [1], at: new Date(0), nothing: undefined };
    const kept: { list: number[] }[] = [];
    await handle('cmd.near.keep.v1', (payload: { list: number[] }) => {
      kept.push(payload);
      payload.list.push(2);
      return Promise.resolve(payload);
    });
    const keep = defineRequest<object, { list: number[] }>('cmd.near.keep.v1');
    const response = await requester.request(keep, sent);
    expect(response).toEqual({ list: [1, 2], at: '1970-01-01T00:00:00.000Z' });
    response.list.push(3);
    expect(sent.list).toEqual([1]);
    expect(kept).toEqual([{ list: [1, 2], at: '1970-01-01T00:00:00.000Z' }]);
  });

  it('prefers it to another process, and reaches the other process when the service stops', async () => {
    await serve('elsewhere', 'h2');
    const stop = await serve('near', 'h1', handlers);
    const by = async (): Promise<string> => (await requester.request(echoRequests.echo, { text: '' })).by;
    expect(await Promise.all(Array.from({ length: 20 }, by))).toEqual(Array<string>(20).fill('near'));
    const running = requester.request(echoRequests.wait, { ms: 300 });
    const stopped = stop();
    expect(await by()).toBe('elsewhere');
    expect(await running).toBe('near');
    await stopped;
    expect(await by()).toBe('elsewhere');
  });

  it('that names another host leaves the process', async () => {
    await serve('elsewhere', 'h2');
    await serve('near', 'h1', handlers);
    await expect(requester.request(echoRequests.onHost, null, { host: 'h2' })).resolves.toBe('elsewhere');
    await expect(requester.request(echoRequests.onHost, null, { host: 'h1' })).resolves.toBe('near');
  });

  it('is refused while the service has lost the broker', async () => {
    await serve('near', 'h1', handlers);
    await nats.kill();
    await eventually(() => !link.connected);
    const error = await failure(requester.request(echoRequests.echo, { text: '' }));
    expect(error).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(effectOf(error)).toBe('none');
  });

  it('that runs when the broker is lost still gets its reply', async () => {
    await serve('near', 'h1', handlers);
    const running = requester.request(echoRequests.wait, { ms: 2_500 });
    await nats.kill();
    await expect(running).resolves.toBe('near');
  });

  it('fails as soon as the service no longer waits for its handler to finish', async () => {
    const never = new Promise<never>(() => undefined);
    const server = await handle('cmd.near.never.v1', () => never, 50);
    const running = failure(requester.request(defineRequest<null, null>('cmd.near.never.v1'), null));
    await server.close();
    const error = await running;
    expect(error).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(effectOf(error)).not.toBe('none');
  });
});
