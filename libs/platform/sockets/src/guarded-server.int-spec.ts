import { Agent, get } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { GuardedServer } from './guarded-server.js';

const BOUNDS = { most: 10, idleMs: 60_000, stalledMs: 60_000 };

/** A server whose responses begin when they are asked for; `released` lets them end. */
const slowServer = async (released: Promise<unknown>): Promise<{ server: GuardedServer; url: string }> => {
  const server = new GuardedServer({ keepAliveTimeout: 60_000 }, BOUNDS, (http) => {
    http.on('request', (_request, response) => {
      response.flushHeaders();
      void released.then(() => response.end('whole'));
    });
  });
  return { server, url: await server.listen({ host: '127.0.0.1', port: 0, url: undefined }) };
};

const begin = async (url: string) => {
  const request = get(url, { agent: new Agent({ keepAlive: true }) });
  const [response] = await once(request, 'response');
  return response;
};

describe('the drain of a guarded server', () => {
  it('refuses new connections, and is over when the responses in flight are complete', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { server, url } = await slowServer(gate.promise);
    const response = await begin(url);
    let isOver = false;
    const drained = server.drain(60_000).then(() => (isOver = true));
    await expect(fetch(url)).rejects.toThrow();
    expect(isOver).toBe(false);
    gate.resolve(undefined);
    expect(await text(response)).toBe('whole');
    await drained;
    await server.close();
  });

  it('ends after its time at the latest; the close then breaks off what is in flight', async () => {
    const { server, url } = await slowServer(new Promise(() => undefined));
    const response = await begin(url);
    await server.drain(50);
    const broken = expect(text(response)).rejects.toThrow();
    await server.close();
    await broken;
  });
});
