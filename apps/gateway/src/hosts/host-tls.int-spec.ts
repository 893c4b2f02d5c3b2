import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATA_CA_FILE, DataAuthority, type DataCertificate } from '@berth/broker-users';
import { agentsRequests } from '@berth/contracts/agents';
import { execRequests } from '@berth/contracts/exec';
import { filesRequests } from '@berth/contracts/files';
import { newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';
import { TestHost, SENT } from '../fixtures/test-host.fixture.js';
import { anAgent } from '../fixtures/test-services.fixture.js';

const HOST = newId('hst');
const EPOCH = 1;
const agent = anAgent();
const executionId = newId('exe');
const folder = mkdtempSync(join(tmpdir(), 'host-tls-'));

let issued: DataCertificate;
let trusting: TestGateway;
let unaware: TestGateway;
let host: TestHost;
let key: string;
let log: string[];

beforeAll(async () => {
  issued = await new DataAuthority(folder).issue(HOST);
  log = [];
  const recording = createLogger({
    service: 'gateway',
    level: 'error',
    destination: { write: (line: string) => void log.push(line) },
  });
  trusting = await startTestGateway(recording, { dataCa: join(folder, DATA_CA_FILE) });
  unaware = await startTestGateway(recording);
});
afterAll(async () => {
  await Promise.all([trusting.stop(), unaware.stop()]);
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  log.length = 0;
});
afterEach(() => host.stop());

/** Starts a host with that certificate, to which every ticket leads. */
const begin = async (
  test: TestGateway,
  certificate: DataCertificate | undefined,
  name = HOST,
): Promise<void> => {
  host = await TestHost.start(certificate);
  issueTickets(test, name);
};

const issueTickets = (test: TestGateway, name: string): void => {
  const { services } = test;
  services.reset();
  services.agents.set(agent.id, agent);
  key = services.key(['read', 'deploy']);
  const opened = () => ({ url: host.url, host: name, ticket: 'secret', epoch: EPOCH });
  services.on(filesRequests.openDownload, opened);
  services.on(filesRequests.openStage, () => ({
    ...opened(),
    staged: { stagedId: newId('stg'), host: name, epoch: EPOCH },
  }));
  services.on(filesRequests.put, () => ({ path: '/a', name: 'a', size: 3 }));
  services.on(execRequests.openConsole, opened);
  services.on(agentsRequests.openApp, opened);
  services.on(execRequests.followOutput, () => ({ kind: 'live' as const, stream: opened() }));
  services.on(execRequests.await, () => ({
    executionId,
    status: 'completed' as const,
    exitCode: 0,
    stdout: '',
    stderr: '',
  }));
};

interface Outcome {
  readonly status: number | undefined;
  readonly text: string;
}

const base = `/api/agents/${agent.id}`;
const download = (test: TestGateway): Promise<Outcome> =>
  test.call('GET', `${base}/files/download?path=a`, { key });
const write = (test: TestGateway): Promise<Outcome> =>
  test.call('PUT', `${base}/files/write`, { key, json: { path: 'a', content: 'abc' } });
const follow = (test: TestGateway): Promise<Outcome> =>
  test.call('GET', `${base}/exec/${executionId}/output?follow=true`, { key });

const openConsole = async (test: TestGateway): Promise<Outcome> => {
  const url = test.gateway.url.replace('http://localhost', 'ws://127.0.0.1');
  const socket = new WebSocket(`${url}${base}/console`, { headers: { authorization: `Bearer ${key}` } });
  try {
    return await new Promise((resolve, reject) => {
      socket.once('message', (data: Buffer) => resolve({ status: 101, text: data.toString() }));
      socket.once('unexpected-response', (_request, { statusCode }) =>
        resolve({ status: statusCode, text: '' }),
      );
      socket.once('error', reject);
    });
  } finally {
    socket.on('error', () => undefined).terminate();
  }
};

const callApp = async (test: TestGateway): Promise<Outcome> => {
  const request = httpRequest({
    host: '127.0.0.1',
    port: new URL(test.gateway.url).port,
    agent: false,
    headers: {
      host: `${agent.id.replace('_', '-')}.apps.localhost`,
      authorization: `Bearer ${key}`,
    },
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, text: String(await response.setEncoding('utf8').toArray()) };
};

const WAYS: readonly [string, (test: TestGateway) => Promise<Outcome>, number, string][] = [
  ['a download', download, 200, SENT],
  ['an upload', write, 200, '"size":3'],
  ['followed output', follow, 200, 'over TLS'],
  ['a console', openConsole, 101, 'prompt$ '],
  ['an app', callApp, 200, 'here'],
];

describe('a host whose data port is https', () => {
  it.each(WAYS)('serves %s if its certificate is that of the private authority', async (...way) => {
    const [, use, status, text] = way;
    await begin(trusting, issued);
    expect(await use(trusting)).toMatchObject({ status, text: expect.stringContaining(text) as string });
    expect(host.requests).toBe(1);
    expect(log).toEqual([]);
  });

  it.each([
    ['downloads', download],
    ['uploads', write],
  ])('keeps its connection for several %s', async (_what, use) => {
    await begin(trusting, issued);
    for (let count = 1; count <= 3; count++) {
      expect((await use(trusting)).status).toBe(200);
      expect([host.requests, host.handshakes]).toEqual([count, 1]);
    }
  });

  const expectRefused = async (
    test: TestGateway,
    use: (test: TestGateway) => Promise<Outcome>,
    why: string,
  ): Promise<void> => {
    const { status, text } = await use(test);
    // The response to a follower has begun when the host is called.
    if (use === follow) expect(text).toContain('event: end\ndata: {"code":"agent_unavailable"');
    else expect(status).toBe(503);
    expect(host.requests).toBe(0);
    expect(log.join()).toContain(why);
    expect(log.join()).toContain(HOST);
    expect(log.join()).not.toContain('secret');
  };

  it.each(WAYS)('gets no request for %s with a certificate of another authority', async (_what, use) => {
    await begin(trusting, await new DataAuthority(join(folder, 'public')).issue(HOST));
    await expectRefused(trusting, use, 'the certificate of the data port of a host was refused');
  });

  it.each(WAYS)('gets no request for %s with the certificate of another host', async (_what, use) => {
    await begin(trusting, await new DataAuthority(folder).issue(newId('hst')));
    await expectRefused(trusting, use, 'the certificate of the data port of a host was refused');
  });

  it.each(WAYS)('gets no request for %s from a gateway without BERTH_DATA_CA', async (_what, use) => {
    await begin(unaware, issued);
    await expectRefused(unaware, use, 'BERTH_DATA_CA is not set');
  });

  it.each(WAYS)('gets no request for %s without TLS', async (_what, use) => {
    await begin(trusting, undefined);
    await expectRefused(trusting, use, 'announced as https, but has no TLS');
  });

  it.each([
    ['downloads', download],
    ['uploads', write],
  ])('gets no %s for another host on a connection that it has kept', async (_what, use) => {
    await begin(trusting, issued);
    expect((await use(trusting)).status).toBe(200);
    issueTickets(trusting, newId('hst'));
    expect((await use(trusting)).status).toBe(503);
    expect(host.requests).toBe(1);
  });
});
