import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { pollProgram } from './poll-program.js';

let server: Server | undefined;
afterEach(() => server?.close());

const poll = async (listener: RequestListener) => {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return pollProgram({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
};

it('the list is what the program answers to GET /schedules', async () => {
  const entries = [{ id: 'a', cron: '@daily' }];
  const polled = await poll(({ method, url }, response) =>
    response.writeHead(method === 'GET' && url === '/schedules' ? 200 : 500).end(JSON.stringify(entries)),
  );
  expect(polled).toEqual({ state: 'list', entries });
});

it('a program without the route has no schedules', async () => {
  expect(await poll((_, response) => response.writeHead(404).end())).toEqual({ state: 'none' });
});

it.each<[string, RequestListener]>([
  ['status 500', (_, response) => response.writeHead(500).end('[]')],
  ['not JSON', (_, response) => response.end('<html>')],
  ['too large', (_, response) => response.end(`"${'x'.repeat(5 * 1024 * 1024)}"`)],
  ['could not be reached', (_, response) => response.destroy()],
])('any other answer is a problem: %s', async (words, listener) => {
  expect(await poll(listener)).toMatchObject({
    state: 'failed',
    problem: expect.stringContaining(words) as string,
  });
});
