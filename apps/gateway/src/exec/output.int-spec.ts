import { execRequests } from '@berth/contracts/exec';
import type { ExecutionView } from '@berth/contracts/hosting';
import { newId } from '@berth/kernel';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

const executionId = newId('exe');
const path = `/api/agents/${newId('agt')}/exec/${executionId}/output`;

let test: TestGateway;
let host: Server;
let url: string;
let key: string;
let serve: (response: ServerResponse, ticket: string | undefined) => void;

beforeAll(async () => {
  test = await startTestGateway();
  host = createServer((request, response) => serve(response, request.headers.authorization));
  await once(host.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/v1/transfer`;
});
afterAll(async () => {
  host.closeAllConnections();
  host.close();
  await test.stop();
});
beforeEach(() => {
  test.services.reset();
  key = test.services.key(['read', 'deploy']);
  test.services.on(execRequests.followOutput, () => ({
    kind: 'live' as const,
    stream: { url, ticket: 'secret' },
  }));
  test.services.on(execRequests.await, () => done({ exitCode: 2 }));
});

const done = (members: Partial<ExecutionView> = {}): ExecutionView => ({
  executionId,
  status: 'completed',
  exitCode: 0,
  stdout: 'a\nb',
  stderr: '',
  ...members,
});

const follow = async (): Promise<string> => {
  const { headers, text } = await test.call('GET', `${path}?follow=true`, { key });
  expect(headers.get('content-type')).toContain('text/event-stream');
  return text.replace(/^retry: \d+\n\n/, '');
};

const EXIT = 'event: exit\ndata: {"status":"completed","exitCode":2}\n\n';

describe('followed output', () => {
  it('of an ended execution is the retained output, then exit', async () => {
    test.services.on(execRequests.followOutput, () => ({
      kind: 'ended' as const,
      execution: done({ exitCode: 2 }),
    }));
    expect(await follow()).toBe(`event: stdout\ndata: {"text":"a\\nb"}\n\n${EXIT}`);
  });

  it('arrives from the host in chunks with any boundaries, and ends with exit', async () => {
    let shown: string | undefined;
    serve = (response, ticket) => {
      shown = ticket;
      const lines = Buffer.from(
        '{"stream":"stdout","text":"\u00e4"}\nnonsense\n{"stream":"stderr","text":"!"}\n{"stream":"end"}\n',
      );
      for (const byte of lines) response.write(Buffer.of(byte));
      response.end();
    };
    expect(await follow()).toBe(
      `event: stdout\ndata: {"text":"ä"}\n\nevent: stderr\ndata: {"text":"!"}\n\n${EXIT}`,
    );
    expect(shown).toBe('Bearer secret');
  });

  it('of an execution that ended in the meantime, or whose host refuses, is the complete result', async () => {
    serve = (response) => response.writeHead(422).end('{"error":{}}');
    expect(await follow()).toBe(`event: stdout\ndata: {"text":"a\\nb"}\n\n${EXIT}`);
  });

  it('sends an end event if it cannot continue', async () => {
    serve = (response) => {
      response.write('{"stream":"stdout","text":"half"}\n', () => response.destroy());
    };
    const text = await follow();
    expect(text).toContain('{"text":"half"}');
    expect(text).toContain('event: end\ndata: {"code":"agent_unavailable"');
  });

  it('without follow is the execution itself', async () => {
    test.services.on(execRequests.get, () => done());
    const { body } = await test.call('GET', path, { key });
    expect(body).toEqual(done());
  });

  it('ends within 5 s of a revocation', async () => {
    const opened = Promise.withResolvers<void>();
    serve = (response) => {
      response.write('{"stream":"stdout","text":"first"}\n');
      opened.resolve();
    };
    const text = follow();
    await opened.promise;
    const since = performance.now();
    test.services.revoke(key);
    expect(await text).toContain('event: end\ndata: {"code":"unauthenticated"');
    expect(performance.now() - since).toBeLessThan(5_000);
  });

  it('closes the connection to the host when the client leaves', async () => {
    const closed = Promise.withResolvers<void>();
    const leave = new AbortController();
    serve = (response) => {
      response.on('close', closed.resolve);
      response.write('{"stream":"stdout","text":"first"}\n', () => leave.abort());
    };
    await test.call('GET', `${path}?follow=true`, { key, signal: leave.signal }).catch(() => undefined);
    await closed.promise;
    expect(leave.signal.aborted).toBe(true);
  });
});
