import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuestFixture } from '../__fixtures__/guest.fixture.js';
import { freePort } from '../program/reserve-port.js';
import type { Endpoint } from '../program/readiness.js';
import { AppConnections } from './app-connections.js';

describe("a connection to the agent's program", () => {
  let guest: GuestFixture;

  beforeEach(async () => {
    guest = await GuestFixture.open();
    await guest.put();
  });

  afterEach(() => guest.destroy());

  it('waits for the restart of a program that has just died, also while its last output is read', async () => {
    await guest.deliver('hold outputs');
    const pid = Number((await guest.deliver('pid')).body['response']);
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { intervalMs: 1 });
    expect(await guest.getFromApp('/health')).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it('fails with app_unreachable for a program that runs on without listening', async () => {
    await guest.deliver('stop listening');
    expect(await guest.getFromApp('/health')).toBe('app_unreachable');
  });
});

describe('a connection to a program whose death is not known yet', () => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers) server.close().closeAllConnections();
    servers.length = 0;
  });

  const listening = async (server: Server): Promise<number> => {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };

  it('is made to the next one', async () => {
    const next = await listening(createServer((_, response) => response.end('next')));
    const endpoints: Endpoint[] = [await freePort(), next].map((port) => ({ host: '127.0.0.1', port }));
    const apps = new AppConnections(() => Promise.resolve(endpoints.shift()));
    const door = createServer();
    door.on('upgrade', (incoming, socket, head) => void apps.open(incoming, socket, head));
    const port = await listening(door);
    const call = request({ port, headers: { connection: 'Upgrade', upgrade: 'tcp' }, agent: false });
    call.end();
    const [, socket] = await once(call, 'upgrade');
    socket.write('GET / HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});
