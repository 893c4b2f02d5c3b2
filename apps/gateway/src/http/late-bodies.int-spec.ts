import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readIncoming } from '../files/incoming-body.js';
import { readRaw } from '../fixtures/gateway.fixture.js';
import { prepareRequests, serverOptions } from './fastify-server.js';
import { HttpRefusal } from './http-refusal.js';
import { addBodyDeadlines } from './late-bodies.js';
import { addRequestLineHook } from './request-hooks.js';

let server: FastifyInstance;
let refused: Error | undefined;

beforeEach(async () => {
  refused = undefined;
  server = Fastify(serverOptions());
  prepareRequests(server);
  addRequestLineHook(server);
  addBodyDeadlines(server, { bodyMs: 300, unwanted: { millis: 300, bytes: 1_000_000 } });
  const plain = { config: { rules: { accepts: 'anyone', resources: [] } } } as const;
  const body = { kind: 'raw', streamed: true } as const;
  const streamed = { config: { rules: { accepts: 'anyone', resources: [], body } } } as const;
  server.post('/plain', plain, () => 'plain');
  server.post('/unread', streamed, (_request, reply) => reply.code(413).send('no'));
  server.post('/streamed', streamed, async (request) => {
    let bytes = 0;
    const onChunk = (chunk: Buffer): undefined => void (bytes += chunk.length);
    const reading = readIncoming(request.raw, { onChunk, failed: new Promise(() => undefined), idleMs: 600 });
    await reading.catch((error: Error) => {
      refused = error;
      throw error;
    });
    return String(bytes);
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(() => server.close());

const open = (path: string, length: number): { readonly socket: Socket; text(): string } => {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nContent-Length: ${length}\r\n\r\n`);
  return { socket, text: () => text };
};

/** Sends a byte every `everyMs` until the other side closes. */
const trickle = async (socket: Socket, everyMs: number): Promise<void> => {
  const timer = setInterval(() => socket.write('x'), everyMs);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(timer);
};

describe('a body that trickles', () => {
  it('of an ordinary request gets 408 under its own request id', async () => {
    const { socket, text } = open('/plain', 1_000);
    await trickle(socket, 50);
    const { head, body } = readRaw(text());
    expect(head).toContain('http/1.1 408');
    expect(head).toContain('x-request-id: mine');
    expect(body.detail?.code).toBe('request_timeout');
  });

  it('of a streamed request may take longer while bytes keep arriving', async () => {
    const { socket, text } = open('/streamed', 20);
    const timer = setInterval(() => socket.write('x'), 100);
    await once(socket, 'data');
    clearInterval(timer);
    socket.destroy();
    expect(text()).toContain('200 OK');
    expect(text()).toMatch(/\r\n\r\n20$/);
  });

  it('of a streamed request is refused with 408 when no bytes arrive, and the socket is closed', async () => {
    const { socket, text } = open('/streamed', 20);
    socket.write('x');
    await once(socket, 'close');
    expect(refused).toBeInstanceOf(HttpRefusal);
    expect(refused).toMatchObject({ status: 408, code: 'request_timeout', headers: { connection: 'close' } });
    expect(text()).not.toBe('');
  });
});

describe('a body that no route reads', () => {
  it('is read to its end if it ends soon, and the connection stays open', async () => {
    const { socket, text } = open('/unread', 500_000);
    socket.write(Buffer.alloc(500_000));
    await once(socket, 'data');
    socket.write('POST /plain HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
    expect(text()).toContain('413');
    expect(text()).toContain('plain');
  });

  it('is disconnected after a time limit', async () => {
    const { socket, text } = open('/unread', 500_000);
    await trickle(socket, 50);
    expect(text()).toContain('413');
  });

  it('is disconnected when it is too long', async () => {
    const { socket, text } = open('/unread', 500_000_000);
    await once(socket, 'data');
    const chunk = Buffer.alloc(100_000);
    let sent = 0;
    const more = (): void => {
      while (!socket.destroyed && sent < 500_000_000) {
        sent += chunk.length;
        if (!socket.write(chunk)) return void socket.once('drain', more);
      }
    };
    const closed = new Promise((resolve) => socket.once('close', resolve));
    more();
    await closed;
    expect(sent).toBeLessThan(50_000_000);
    expect(text()).toContain('413');
  });
});
