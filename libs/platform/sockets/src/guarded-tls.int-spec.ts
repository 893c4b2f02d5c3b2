import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { DataAuthority, type DataCertificate } from '@berth/broker-users';
import { dataPortName, newId } from '@berth/kernel';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GuardedServer } from './guarded-server.js';

const IDLE_MS = 100;
const host = newId('hst');
let issued: DataCertificate;
let server: GuardedServer;
const folder = mkdtempSync(join(tmpdir(), 'guarded-tls-'));

beforeAll(async () => {
  issued = await new DataAuthority(folder).issue(host);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => server.close());

const tls = () => ({ ca: issued.authority, servername: dataPortName(host) });

/** A server whose responses end with `released`. */
const start = async (released: Promise<unknown>, { most = 10, idleMs = IDLE_MS } = {}): Promise<URL> => {
  const options = { cert: issued.certificate, key: issued.key, keepAliveTimeout: 60_000 };
  server = new GuardedServer(options, { most, idleMs, stalledMs: 60_000 }, (http) => {
    http.on('request', (_request, response) => {
      response.flushHeaders();
      void released.then(() => response.end('whole'));
    });
    http.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: test\r\n\r\n');
      socket.on('end', () => setImmediate(() => socket.end('late bytes'))).resume();
    });
  });
  return new URL(await server.listen({ host: '127.0.0.1', port: 0, url: undefined }));
};

const open = async ({ hostname, port }: URL): Promise<TLSSocket> => {
  const socket = connect({ host: hostname, port: Number(port), ...tls() });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
};

describe('a guarded server over TLS', () => {
  it('has an https URL', async () => {
    expect((await start(Promise.resolve())).protocol).toBe('https:');
  });

  it('closes idle connections in time, and none with a request in flight', async () => {
    const gate = Promise.withResolvers<undefined>();
    const url = await start(gate.promise);
    const sent = request(url, { agent: new Agent(), ...tls() }).end();
    const [response] = await once(sent, 'response');
    for (let round = 0; round < 2; round++) await once((await open(url)).resume(), 'close');
    gate.resolve(undefined);
    expect(await text(response)).toBe('whole');
  });

  it('closes the longest idle connection beyond the maximum', async () => {
    const url = await start(Promise.resolve(), { most: 2, idleMs: 60_000 });
    const first = await open(url);
    const closed = once(first.resume(), 'close');
    await open(url);
    await open(url);
    await closed;
  });

  it('ends the longest of too many handshakes, and still accepts connections', async () => {
    const url = await start(Promise.resolve(), { most: 8, idleMs: 60_000 });
    const connectTo = (): Socket => connectPlain(Number(url.port), url.hostname).on('error', () => undefined);
    const first = connectTo().resume();
    const closed = once(first, 'close');
    const others = Array.from({ length: 8 }, connectTo);
    await closed;
    expect(others.filter(({ destroyed }) => destroyed)).toEqual([]);
    for (const other of others) other.destroy();
    (await open(url)).destroy();
  });

  it('ends connections in their handshake when it closes', async () => {
    const url = await start(Promise.resolve());
    const socket = connectPlain(Number(url.port), url.hostname);
    await once(socket, 'connect');
    // Accepted in order, so the server has the first once the second is secure.
    await open(url);
    const closed = once(socket.on('error', () => undefined).resume(), 'close');
    await server.close();
    await closed;
  });

  it('still sends on an upgraded connection whose client has ended its side', async () => {
    const url = await start(Promise.resolve());
    const sent = request(url, {
      agent: false,
      headers: { connection: 'Upgrade', upgrade: 'test' },
      ...tls(),
    });
    const [, socket] = await once(sent.end(), 'upgrade');
    socket.end();
    expect(await text(socket)).toBe('late bytes');
  });
});
