import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { agentsRequests } from '@berth/contracts/agents';
import { execRequests } from '@berth/contracts/exec';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { startTestGateway, silent, type TestGateway } from '../fixtures/gateway.fixture.js';
import { anAgent } from '../fixtures/test-services.fixture.js';

const CONNECTIONS = 20;
/** Half of the connections that are not reserved. */
const SHARE = 9;

const agent = anAgent();
let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway(silent, { maxConnections: CONNECTIONS });
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.agents.set(agent.id, agent);
});

const read = (key: string) => test.call('GET', `/api/agents/${agent.id}`, { key });

/** Lists agents with three keys of one account, as often as there are connections, until `gate` opens. */
const crowd = (gate: Promise<unknown>, accountId: string) => {
  const keys = [1, 2, 3].map(() => test.services.key(undefined, accountId));
  test.services.on(agentsRequests.list, async () => {
    await gate;
    return { items: [], nextCursor: null };
  });
  return Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) =>
      test.call('GET', '/api/agents', { key: keys[index % keys.length] ?? '' }),
    ),
  );
};

describe('the connections of one account', () => {
  it('are at most half, whatever number of keys it uses: others and /health are served meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    const accountId = newId('acc');
    const crowded = crowd(gate.promise, accountId);
    await eventually(() => test.services.requestsTo(agentsRequests.list).length === SHARE);
    const own = await read(test.services.key(undefined, accountId));
    expect([own.status, own.body.detail?.code, own.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '1',
    ]);
    expect((await read(test.services.key())).status).toBe(200);
    expect((await test.call('GET', '/health')).status).toBe(200);
    gate.resolve();
    const statuses = (await crowded).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(SHARE);
    expect(statuses.filter((status) => status === 429)).toHaveLength(CONNECTIONS - SHARE);
    expect((await read(test.services.key(undefined, accountId))).status).toBe(200);
  });

  it('include its consoles, each until it is closed', async () => {
    const host = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(host, 'listening');
    const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/v1/transfer`;
    test.services.on(execRequests.openConsole, () => ({ url, ticket: 'secret', epoch: 1 }));
    const key = test.services.key();
    const address = `${test.gateway.url.replace('http://localhost', 'ws://127.0.0.1')}/api/agents/${agent.id}/console`;
    const consoles = Array.from(
      { length: SHARE },
      () => new WebSocket(address, { headers: { authorization: `Bearer ${key}` } }),
    );
    await Promise.all(consoles.map((console) => once(console, 'open')));
    expect((await read(key)).status).toBe(429);
    consoles[0]?.close();
    await eventually(async () => (await read(key)).status === 200);
    for (const console of consoles) console.terminate();
    host.close();
  });
});
