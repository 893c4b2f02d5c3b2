import { eventually } from '@berth/testing';
import type { FakeUpstream } from '@berth/testing/upstream';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { LlmAgent, type LlmReply } from './llm.fixture.js';
import { CHAT, errorOf, HELLO, MESSAGES, RESPONSES, SETTLED, VERSION } from './llm-routes.fixture.js';
import type { Stack } from './stack.fixture.js';

const MOST_BYTES = 32 * 1_024 * 1_024;

/** What the LLM route refuses over HTTP, in both dialects, and how. */
export const describeLlmRefusals = (stack: () => Stack, upstream: () => FakeUpstream): void => {
  describe('the LLM route', () => {
    const api = new Api(stack);
    let agent: LlmAgent;
    beforeAll(async () => {
      const { id } = await api.runningAgent({ templateId: 'blank', idleTtlSeconds: 0 });
      agent = await LlmAgent.of(api, stack, id);
    });
    const send = (path: string, body: object, headers: Record<string, string> = {}): Promise<LlmReply> =>
      agent.request(path, { body, headers: { ...VERSION, ...headers } });
    const sentFor = (model: string) =>
      upstream()
        .requestsFor(model)
        .map(({ body }) => body);

    describe('a request that the route refuses', () => {
      it.each([CHAT, MESSAGES, 'openai/v1/models', 'anthropic/v1/models'])(
        '%s is 401 in the shape of the dialect without the token of an agent',
        async (path) => {
          for (const token of [null, stack().key, 'eu_x', 'at_x']) {
            const body = path.endsWith('models') ? null : { model: 'gpt', messages: HELLO };
            const reply = await agent.request(path, { body, token });
            expect([reply.status, ...errorOf(path, reply)], token ?? 'none').toEqual([
              ...[401, 'authentication_error', 'unauthenticated'],
            ]);
            expect(reply.headers.get('www-authenticate')).toBe('Bearer');
          }
        },
      );

      it('is 413 beyond 32 MiB, and leaves no row', async () => {
        const before = (await agent.calls('')).length;
        const piece = new Uint8Array(MOST_BYTES / 8).fill(32);
        let pieces = 0;
        const body = (): ReadableStream =>
          new ReadableStream({
            pull: (controller) => (pieces++ > 8 ? controller.close() : controller.enqueue(piece)),
          });
        const reply = await agent.request(CHAT, { body });
        expect([reply.status, ...errorOf(CHAT, reply)]).toEqual([
          ...[413, 'request_too_large', 'payload_too_large'],
        ]);
        await eventually(async () => expect((await api.get('/health')).status).toBe(200));
        expect((await agent.calls('')).length).toBe(before);
      });

      it.each([
        [CHAT, 'unheard-of'],
        [MESSAGES, 'gpt'],
      ])('%s is 404 for the model %s, which is not sent', async (path, model) => {
        const before = upstream().requests.length;
        const reply = await send(path, { model, input: 'x', messages: HELLO, max_tokens: 10 });
        expect([reply.status, ...errorOf(path, reply)]).toEqual([404, 'not_found_error', 'model_not_found']);
        expect(upstream().requests).toHaveLength(before);
      });

      it.each([
        [CHAT, { web_search_options: {} }],
        [RESPONSES, { background: true }],
        [MESSAGES, { container: 'c' }],
      ] as const)('%s with %j is 400, is not sent, and is listed as refused', async (path, more) => {
        const model = path === MESSAGES ? 'claude-shown' : 'shown';
        const before = sentFor(model).length;
        const reply = await send(path, { model, messages: HELLO, input: 'x', max_tokens: 10, ...more });
        expect([reply.status, ...errorOf(path, reply)]).toEqual([
          ...[400, 'invalid_request_error', 'unsupported_parameter'],
        ]);
        expect(sentFor(model)).toHaveLength(before);
        expect((await agent.calls(model))[0]).toMatchObject({
          status: 'refused',
          costCents: 0,
          reservedCents: 0,
        });
      });

      it('is one with a value of anthropic-beta that the model does not allow', async () => {
        const body = { model: 'claude-shown', messages: HELLO, max_tokens: 10 };
        expect((await send(MESSAGES, body, { 'anthropic-beta': 'allowed-beta' })).status).toBe(200);
        const reply = await send(MESSAGES, body, { 'anthropic-beta': 'allowed-beta, other' });
        expect([reply.status, ...errorOf(MESSAGES, reply)]).toEqual([
          ...[400, 'invalid_request_error', 'unsupported_parameter'],
        ]);
      });

      it.each([
        [CHAT, 'n'],
        [RESPONSES, 'max_output_tokens'],
        [MESSAGES, 'max_tokens'],
      ])('%s is one whose %s is not a positive integer', async (path, member) => {
        for (const value of [0, '5']) {
          const model = path === MESSAGES ? 'claude' : 'gpt';
          const reply = await send(path, { model, messages: HELLO, input: 'x', [member]: value });
          expect([reply.status, ...errorOf(path, reply)]).toEqual([400, 'invalid_request_error', null]);
        }
      });

      it('is the 65th call in flight of an agent, and not that of another', async () => {
        const [path, model] = [CHAT, 'flooded'];
        const gate = Promise.withResolvers<undefined>();
        upstream().on(model, { beforeHeaders: gate.promise });
        const body = { model, messages: HELLO, max_tokens: 10 };
        const inFlight = Array.from({ length: 64 }, () => send(path, body));
        await eventually(() => expect(sentFor(model)).toHaveLength(64), SETTLED);
        const reply = await send(path, body);
        expect([reply.status, ...errorOf(path, reply)]).toEqual([429, 'rate_limit_error', 'rate_limited']);
        const { id } = await api.runningAgent({ templateId: 'blank' });
        const other = await LlmAgent.of(api, stack, id);
        const anothers = other.request(path, { body, headers: VERSION });
        await eventually(() => expect(sentFor(model)).toHaveLength(65), SETTLED);
        gate.resolve(undefined);
        expect((await anothers).status).toBe(200);
        expect(new Set((await Promise.all(inFlight)).map(({ status }) => status))).toEqual(new Set([200]));
      });
    });
  });
};
