import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { accountsRequests } from '@berth/contracts/accounts';
import { deliveryRequests } from '@berth/contracts/delivery';
import { agentsRequests } from '@berth/contracts/agents';
import { operationsRequests, SERVICES } from '@berth/contracts/operations';
import { runtimeRequests } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { eventually, runningTime, TcpProxy } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  caller,
  readRaw,
  silent,
  startTestGateway,
  type Body,
  type TestGateway,
} from './fixtures/gateway.fixture.js';
import { startGateway } from './start-gateway.js';

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => test.services.reset());

const CHAT = `/api/agents/${newId('agt')}/chat`;

describe('GET /health', () => {
  it('is ok while every dependency responds', async () => {
    const { status, body } = await test.call('GET', '/health');
    expect([status, body]).toEqual([
      200,
      {
        status: 'ok',
        runtime: 'process',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
        dependencies: { nats: 'ok', eventStore: 'ok', postgres: 'ok', runtime: 'ok' },
        disk: expect.stringMatching(/^(ok|low)$/) as string,
        deadLetters: 0,
      },
    ]);
  });

  it('names the driver of the runtime that responds', async () => {
    test.services.on(runtimeRequests.hosts, () => ({
      host: 'host1',
      driver: 'nerdctl',
      freeMemMb: 1,
      agents: 0,
      logId: null,
    }));
    await eventually(async () => expect((await test.call('GET', '/health')).body['runtime']).toBe('nerdctl'));
  });

  const fine = { eventStore: true, postgres: true, jetStream: true, deadLetters: 0 };

  /** Requests `/health`, which must respond within 1 s, with some tolerance. */
  const health = async (): Promise<readonly [number, Body]> => {
    const time = runningTime();
    const { status, body } = await test.call('GET', '/health');
    expect(time.stop()).toBeLessThan(1_400);
    return [status, body];
  };

  it('is degraded while parts behind services are unavailable', async () => {
    test.services.on(operationsRequests('agents').health, () => ({
      ...fine,
      eventStore: false,
      jetStream: false,
    }));
    test.services.on(operationsRequests('exec').health, () => ({ ...fine, deadLetters: 3 }));
    await eventually(async () =>
      expect(await health()).toMatchObject([
        200,
        {
          status: 'degraded',
          dependencies: { nats: 'degraded', eventStore: 'degraded', postgres: 'ok', runtime: 'ok' },
          deadLetters: 3,
        },
      ]),
    );
  });

  it('is degraded within 1 s while one service receives no probes, although the link is up', async () => {
    test.services.on(operationsRequests('exec').health, () => new Promise(() => undefined));
    await eventually(async () =>
      expect(await health()).toMatchObject([
        200,
        { status: 'degraded', dependencies: { nats: 'degraded', eventStore: 'ok' }, deadLetters: null },
      ]),
    );
  });

  it('is 503 within 1 s while no service receives probes, although the link is up', async () => {
    test.services.on(runtimeRequests.hosts, () => new Promise(() => undefined));
    for (const name of SERVICES)
      test.services.on(operationsRequests(name).health, () => new Promise(() => undefined));
    await eventually(async () =>
      expect(await health()).toMatchObject([
        503,
        {
          status: 'unavailable',
          runtime: 'process',
          dependencies: { nats: 'down', eventStore: 'unknown', postgres: 'ok', runtime: 'down' },
        },
      ]),
    );
  });

  it('probes each dependency once for concurrent callers', async () => {
    test.services.received.length = 0;
    await eventually(async () => {
      await Promise.all(Array.from({ length: 200 }, () => test.call('GET', '/health')));
      expect(test.services.requestsTo(operationsRequests('agents').health).length).toBeGreaterThan(0);
    });
    expect(test.services.requestsTo(operationsRequests('agents').health).length).toBeLessThan(10);
  });

  it.each(['nats', 'postgres'] as const)(
    'is 503 with detail within 2 s while %s is down, and ok again after',
    async (part) => {
      const proxy = await TcpProxy.start(test.infra.portOf(part));
      const moved = (address: string): string => {
        const url = new URL(address);
        url.port = String(proxy.port);
        return url.href;
      };
      const gateway = await startGateway(
        {
          ...test.config,
          ...(part === 'nats'
            ? { natsUrl: moved(test.config.natsUrl) }
            : { databaseUrl: moved(test.config.databaseUrl) }),
        },
        silent,
      );
      const call = caller(gateway.url);
      try {
        proxy.cut({ refuse: true });
        await eventually(async () => {
          const time = runningTime();
          const { status, headers, body } = await call('GET', '/health');
          expect(time.stop()).toBeLessThan(2_000);
          expect([status, headers.get('retry-after'), body['status']]).toEqual([503, '1', 'unavailable']);
          expect(body['dependencies']).toMatchObject({ [part]: 'down' });
          expect(body.detail?.code).toBe('service_unavailable');
        });
        proxy.restore();
        await eventually(async () => expect((await call('GET', '/health')).status).toBe(200), {
          timeoutMs: 20_000,
        });
      } finally {
        proxy.restore();
        await gateway.stop();
        await proxy.stop();
      }
    },
  );
});

describe('starting', () => {
  it('reports in one sentence that the port is in use', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const address = squatter.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(startGateway({ ...test.config, port }, silent)).rejects.toThrow(
      new RegExp(String.raw`^Port ${port} on 127\.0\.0\.1 .*\bSet PORT\b[^.]*\.$`),
    );
    squatter.close();
  });
});

describe('stopping', () => {
  it('lets a request in flight end, closes its connection, and accepts no new one', async () => {
    const gateway = await startGateway(test.config, silent);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    test.services.on(deliveryRequests.chat, async () => {
      await released;
      return { response: 'pong', conversationId: 'c' };
    });
    const inFlight = caller(gateway.url)('POST', CHAT, {
      key: test.services.key(),
      json: { message: 'ping' },
    });
    await eventually(() => test.services.requestsTo(deliveryRequests.chat).length === 1);
    const stopped = gateway.stop();
    await eventually(() =>
      expect(caller(gateway.url)('GET', '/openapi.json')).rejects.toThrow('fetch failed'),
    );
    release();
    const { status, headers } = await inFlight;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await stopped;
  });

  it('takes at most 5 s, however long a chat lasts and a client stays connected', async () => {
    const gateway = await startGateway(test.config, silent);
    test.services.on(deliveryRequests.chat, () => new Promise(() => undefined));
    const inFlight = caller(gateway.url)('POST', CHAT, {
      key: test.services.key(),
      json: { message: 'ping' },
    });
    inFlight.catch(() => undefined);
    await eventually(() => test.services.requestsTo(deliveryRequests.chat).length === 1);
    const startedAt = performance.now();
    await gateway.stop();
    expect(performance.now() - startedAt).toBeLessThan(6_500);
    await expect(inFlight).rejects.toThrow();
  });
});

describe('slow clients', () => {
  it('are disconnected when their headers do not arrive in time', async () => {
    const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const startedAt = performance.now();
    await once(socket, 'close');
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(readRaw(text).head).toContain('http/1.1 408');
    expect(readRaw(text).body.detail?.code).toBe('request_timeout');
  });
});

describe('the log', () => {
  it('has one line per request with its id, and neither key nor query', async () => {
    const lines: string[] = [];
    const log = createLogger({
      service: 'gateway',
      destination: { write: (line: string) => void lines.push(line) },
    });
    const gateway = await startGateway(test.config, log);
    test.services.on(agentsRequests.list, () => ({ items: [], nextCursor: null }));
    const key = test.services.key();
    const call = caller(gateway.url);
    await call('GET', '/api/agents?name=private-name', { key, headers: { 'x-request-id': 'look-here' } });
    await call('GET', `/api/agents?token=${key}`, { key });
    test.services.on(accountsRequests.authenticate, () => {
      throw new Error(`lost ${key}`);
    });
    await call('GET', '/api/agents', { key });
    await gateway.stop();
    const text = lines.join('');
    expect(text).not.toContain(key);
    expect(text).not.toContain('private-name');
    const line = lines
      .map((raw) => JSON.parse(raw) as Record<string, unknown>)
      .find(({ requestId }) => requestId === 'look-here');
    expect(line).toMatchObject({ method: 'GET', path: '/api/agents', status: 200 });
  });
});
