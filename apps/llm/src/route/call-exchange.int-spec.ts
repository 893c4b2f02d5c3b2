import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { FakeUpstream, UPSTREAM_KEY, type Behaviour } from '@berth/testing/upstream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aModel, CHAT, MESSAGES } from '../fixtures/models.fixture.js';
import type { Operation } from '../dialect/operation.js';
import { Refusal } from '../dialect/refusal.js';
import { UpstreamClient } from '../upstream/upstream-client.js';
import { CallExchange } from './call-exchange.js';
import type { CallOutcome } from './call-outcome.js';
import type { CallTiming } from './call-timing.js';
import { prepareCall } from './prepared-call.js';

const DAY_MS = 86_400_000;
const log = createLogger({ service: 'test', level: 'silent' });

let upstream: FakeUpstream;
let client: UpstreamClient;
let server: Server;
let outcomes: CallOutcome[];
/** How the last exchange failed. */
let failure: unknown;
/** Resolves once the exchange can know that its caller has hung up. */
let left: PromiseWithResolvers<void>;
/** Resolves once a call has arrived. */
let arrived: PromiseWithResolvers<void>;

beforeEach(async () => {
  upstream = await FakeUpstream.start();
  [outcomes, failure] = [[], undefined];
  [left, arrived] = [Promise.withResolvers(), Promise.withResolvers()];
});
afterEach(async () => {
  client.onApplicationShutdown();
  server.closeAllConnections();
  server.close();
  await upstream.stop();
});

/** Serves one model, whose upstream behaves like this, under these time limits. */
const serve = async (
  behaviour: Behaviour,
  timing: Partial<CallTiming>,
  reserved = Promise.resolve<unknown>(undefined),
  operation: Operation = CHAT,
): Promise<void> => {
  upstream.on('m', behaviour);
  const limits = { silentMs: DAY_MS, readOnMs: DAY_MS, ...timing };
  client = new UpstreamClient(limits);
  const recorded = {
    end: (_callId: string, outcome: CallOutcome) => {
      outcomes.push(outcome);
      return Promise.resolve();
    },
  };
  const exchange = new CallExchange(client, recorded, limits, log);
  const provider = {
    ...aModel({}, operation.dialect).provider,
    ...{ baseUrl: `${upstream.url}/v1`, apiKey: UPSTREAM_KEY, insecure: true },
  };
  server = createServer((request, response) => {
    response.once('close', () => setImmediate(left.resolve));
    const messages = [{ role: 'user', content: 'hello' }];
    const body = { model: 'm', stream: true, max_tokens: 10, messages };
    const call = prepareCall(operation, { body, bytes: 100 }, {}, { find: () => aModel({ provider }) });
    arrived.resolve();
    reserved
      .then(() => exchange.run(call, { callId: 'llm_1', outputTokens: 10 }, { request, response }))
      .catch((error: unknown) => {
        failure = error;
        response.destroy();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
};

const call = () => {
  const { port } = server.address() as AddressInfo;
  const request = httpRequest({ host: '127.0.0.1', port, method: 'POST' });
  request.on('error', () => undefined);
  request.end();
  return request;
};
/** The call reached the upstream. */
const sent = () => eventually(() => expect(upstream.requestsFor('m')).toHaveLength(1));

it('a call whose caller hung up while its cost was reserved is not sent, and costs nothing', async () => {
  const reserved = Promise.withResolvers<undefined>();
  await serve({}, {}, reserved.promise);
  const request = call();
  await arrived.promise;
  request.destroy();
  await left.promise;
  reserved.resolve(undefined);
  await eventually(() => expect(outcomes).toEqual([{ kind: 'failed' }]));
  expect(upstream.requestsFor('m')).toEqual([]);
});

describe('an upstream that hangs before its headers', () => {
  it('is given up when the time limit is over: 502, and what it may have billed is settled as reserved', async () => {
    await serve({ hangs: true }, { silentMs: 100 });
    call();
    await eventually(() => expect(outcomes).toMatchObject([{ kind: 'unknown' }]));
    expect(failure).toBeInstanceOf(Refusal);
    expect(failure).toMatchObject({ status: 502, type: 'api_error' });
    await eventually(() => expect(upstream.requestsFor('m')[0]?.hungUp).toBe(true));
  });

  it('is waited for after its caller has hung up, until that time limit is over', async () => {
    await serve({ hangs: true }, { readOnMs: 100 });
    const request = call();
    await sent();
    expect([outcomes, upstream.requestsFor('m')[0]?.hungUp]).toEqual([[], false]);
    request.destroy();
    await eventually(() => expect(outcomes).toMatchObject([{ kind: 'unknown' }]));
    await eventually(() => expect(upstream.requestsFor('m')[0]?.hungUp).toBe(true));
  });
});

describe('a stream whose caller has hung up', () => {
  const behaviour = (gate: Promise<unknown>): Behaviour => ({
    textTokens: 50,
    usage: { input: 20, output: 50 },
    pauseAfter: { chunks: 3, pause: gate },
  });
  const hungUp = async (): Promise<void> => {
    const request = call();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'data');
    request.destroy();
    await left.promise;
  };

  it('is read on for its usage', async () => {
    const gate = Promise.withResolvers<undefined>();
    await serve(behaviour(gate.promise), {});
    await hungUp();
    gate.resolve(undefined);
    await eventually(() =>
      expect(outcomes).toMatchObject([{ kind: 'known', tokens: { input: 20, output: 50 } }]),
    );
    expect(upstream.requestsFor('m')[0]?.hungUp).toBe(false);
  });

  it('is cut off when the time limit is over, and settled as reserved', async () => {
    await serve(behaviour(new Promise(() => undefined)), { readOnMs: 100 });
    await hungUp();
    await eventually(() => expect(outcomes).toMatchObject([{ kind: 'unknown' }]));
    await eventually(() => expect(upstream.requestsFor('m')[0]?.hungUp).toBe(true));
  });
});

it.each([
  ['chat completions', CHAT, { errorIn200: 'body' }],
  ['messages', MESSAGES, { status: 401 }],
] as const)(
  'a stream of %s whose upstream fails at once costs nothing: %j',
  async (_, operation, behaviour) => {
    await serve(behaviour, {}, undefined, operation);
    call();
    await eventually(() => expect(outcomes).toEqual([{ kind: 'failed' }]));
  },
);

it.each([
  [204, { kind: 'unknown' }],
  [304, { kind: 'failed' }],
])('an upstream that returns %i, which has no body, ends the call', async (status, outcome) => {
  await serve({ status }, {});
  call();
  await eventually(() => expect(outcomes).toMatchObject([outcome]));
});
