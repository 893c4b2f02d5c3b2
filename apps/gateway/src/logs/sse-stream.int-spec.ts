import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { SseStream } from './sse-stream.js';

it('ends immediately for a client that disconnected before the stream began, and sends it nothing', async () => {
  const app = fastify();
  const begun = Promise.withResolvers<SseStream>();
  app.get('/', async (request, reply) => {
    client.resetAndDestroy();
    if (!reply.raw.closed) await once(reply.raw, 'close');
    const stream = new SseStream(request, reply);
    begun.resolve(stream);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const stream = await begun.promise;
  expect(stream.gone.aborted).toBe(true);
  await stream.send([{ event: 'log', data: 'x'.repeat(1_000_000) }]);
  stream.end();
  await app.close();
});
