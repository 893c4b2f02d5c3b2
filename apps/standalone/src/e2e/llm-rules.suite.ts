import { eventually } from '@berth/testing';
import type { FakeUpstream } from '@berth/testing/upstream';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import { centsOf, LlmAgent, type CallBody, type LlmReply } from './llm.fixture.js';
import {
  CHAT,
  EMBEDDINGS,
  errorOf,
  HELLO,
  MESSAGES,
  RESPONSES,
  SETTLED,
  VERSION,
} from './llm-routes.fixture.js';
import { ACCOUNTS, openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

/** What the input of a body is reserved for. */
const inputOf = (body: object): number => Buffer.byteLength(JSON.stringify(body)) + 1_024;

/** The rules of the LLM route over HTTP, in both dialects: what is sent, reserved and settled. */
export const describeLlmRules = (stack: () => Stack, upstream: () => FakeUpstream): void => {
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

    const over = (path: string, body: CallBody) => agent.over(path, { body, headers: VERSION });

    describe('what is sent', () => {
      it.each([
        [
          CHAT,
          'shown',
          { store: true, service_tier: 'priority', stream: true },
          'max_completion_tokens',
          'default',
        ],
        [RESPONSES, 'shown', { service_tier: 'priority' }, 'max_output_tokens', 'default'],
        [MESSAGES, 'claude-shown', { service_tier: 'auto' }, 'max_tokens', 'standard_only'],
      ] as const)(
        'by %s stores nothing, has a limit and the plain tier',
        async (path, model, more, limit, tier) => {
          const reply = await send(path, { model, messages: HELLO, input: 'x', ...more });
          expect(reply.status).toBe(200);
          expect(sentFor(model).at(-1)).toMatchObject({
            ...{ [limit]: 1_000, service_tier: tier },
            ...(path === MESSAGES ? {} : { store: false }),
            ...(path === CHAT ? { stream_options: { include_usage: true } } : {}),
          });
        },
      );

      it.each([
        [CHAT, 'shown'],
        [MESSAGES, 'claude-shown'],
      ])('by %s has the headers of the list and no other, and so has the response', async (path, model) => {
        const back = {
          ...{ 'x-request-id': 'of-upstream', 'x-ratelimit-remaining-requests': '7', 'retry-after': '3' },
          ...{ 'set-cookie': 'a=b', 'openai-organization': 'org', 'openai-processing-ms': '5' },
        };
        upstream().on(model, { headers: back });
        const passed = { 'idempotency-key': 'same', accept: 'application/json', 'user-agent': 'an SDK' };
        const { headers } = await send(
          path,
          { model, messages: HELLO, max_tokens: 10 },
          {
            ...passed,
            ...{
              cookie: 'a=b',
              'openai-organization': 'o',
              'openai-project': 'p',
              'x-forwarded-for': '1.2.3.4',
            },
          },
        );
        const sent = upstream().requestsFor(model).at(-1)?.headers ?? {};
        expect(sent).toMatchObject({ ...passed, ...VERSION, 'content-type': 'application/json' });
        for (const name of Object.keys(sent))
          expect(name).not.toMatch(/^(?:cookie|openai-.*|x-forwarded-.*|x-berth-.*)$/);
        for (const name of ['x-request-id', 'x-ratelimit-remaining-requests', 'retry-after'] as const)
          expect(headers.get(name)).toBe(back[name]);
        for (const name of ['set-cookie', 'openai-organization', 'openai-processing-ms'])
          expect(headers.get(name)).toBeNull();
        upstream().on(model, {});
      });
    });

    describe('what is reserved', () => {
      const reservedFor = async (path: string, body: CallBody): Promise<number> => {
        const { reply, call } = await over(path, body);
        expect(reply.status).toBe(200);
        return call.reservedCents;
      };

      it('is the length of the body and 1,024 tokens, and the larger limit of two, for each choice', async () => {
        const chat = { model: 'bounded', messages: HELLO };
        upstream().on('bounded', { usage: { input: 1, output: 1 } });
        for (const [more, output] of [
          [{}, 1_000],
          [{ max_tokens: 5 }, 5],
          [{ max_completion_tokens: 5, n: 3 }, 15],
          [{ max_tokens: 5, max_completion_tokens: 100 }, 100],
        ] as const) {
          const body = { ...chat, ...more };
          expect(await reservedFor(CHAT, body), JSON.stringify(more)).toBe(centsOf(inputOf(body), output));
        }
        const embedded = { model: 'bounded', input: 'x' };
        expect(await reservedFor(EMBEDDINGS, embedded)).toBe(centsOf(inputOf(embedded), 0));
      });

      it('is never for more input than the context, and for all of it if anything is given by URL', async () => {
        const content = (url: string) => [
          { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
        ];
        for (const messages of [
          [{ role: 'user', content: 'x'.repeat(200_000) }],
          content('https://example.org/a.png'),
        ])
          expect(await reservedFor(CHAT, { model: 'bounded', messages, max_tokens: 5 })).toBe(
            centsOf(100_000, 5),
          );
        const within = { model: 'bounded', messages: content('data:image/png;base64,AA=='), max_tokens: 5 };
        expect(await reservedFor(CHAT, within)).toBe(centsOf(inputOf(within), 5));
        const batch = { model: 'bounded', input: ['x'.repeat(60_000), 'x'.repeat(60_000)] };
        expect(await reservedFor(EMBEDDINGS, batch)).toBe(centsOf(100_000, 0));
      });

      it('without a limit is what the cap affords; with one that is too large nothing is sent', async () => {
        const { externalId, agentId } = await anOwner(api, { templateId: 'blank' });
        const policy = { llm_spend_cap_cents_per_month: 2 };
        await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body: { policy } });
        const capped = await LlmAgent.of(api, stack, agentId);
        const body = { model: 'afforded', messages: HELLO };
        expect((await capped.request(CHAT, { body })).status).toBe(200);
        const affordable = Math.floor((2_000 - inputOf(body)) / 2);
        expect(sentFor('afforded')).toMatchObject([{ max_completion_tokens: affordable }]);
        const refused = await capped.request(CHAT, { body: { ...body, max_tokens: affordable + 1 } });
        expect([refused.status, ...errorOf(CHAT, refused)]).toEqual([
          402,
          'billing_error',
          'spend_cap_reached',
        ]);
        const other = await capped.request(MESSAGES, {
          body: { model: 'claude', messages: HELLO, max_tokens: 1_000 },
          headers: VERSION,
        });
        expect([other.status, ...errorOf(MESSAGES, other)]).toEqual([
          402,
          'billing_error',
          'spend_cap_reached',
        ]);
        expect(sentFor('afforded')).toHaveLength(1);
      });

      it('never exceeds the credits, which only an upstream that bills above the limit takes below 0', async () => {
        const { id, key } = await openAccount(api, 'Credits at the limit');
        const agentId = await runningAgentOf(api, key, { templateId: 'blank' });
        await api.post(`${ACCOUNTS}/${id}/credits`, { cents: 10 });
        const paying = await LlmAgent.of(api, stack, agentId, key);
        const gate = Promise.withResolvers<undefined>();
        upstream().on('paid', { beforeHeaders: gate.promise, usage: { input: 1_000, output: 1_000 } });
        const body = { model: 'paid', messages: HELLO, max_tokens: 1_000 };
        const replies = Array.from({ length: 20 }, () => paying.request(CHAT, { body }));
        // Each reserves 3.1 cents.
        await eventually(() => expect(sentFor('paid')).toHaveLength(3), SETTLED);
        gate.resolve(undefined);
        const refused = (await Promise.all(replies)).filter(({ status }) => status !== 200);
        expect(refused).toHaveLength(17);
        for (const reply of refused)
          expect([reply.status, ...errorOf(CHAT, reply)]).toEqual([
            402,
            'billing_error',
            'insufficient_credits',
          ]);
        const balance = async (): Promise<unknown> =>
          ((await api.get('/api/v1/account', { key })).body['credits'] as Record<string, unknown>)[
            'balanceCents'
          ];
        expect(await balance()).toBe(1);
        await api.post(`${ACCOUNTS}/${id}/credits`, { cents: 1 });
        upstream().on('paid', { usage: { input: 0, output: 5_000 } });
        expect((await paying.request(CHAT, { body: { ...body, max_tokens: 1 } })).status).toBe(200);
        expect(await balance()).toBe(-8);
        expect((await paying.request(CHAT, { body: { ...body, max_tokens: 1 } })).status).toBe(402);
      });
    });

    describe('what is settled', () => {
      it.each([
        [CHAT, 'parts-of-price', 60 * 1 + 30 * 0.1 + 10 * 1.25 + 15 * 2 + 5 * 3],
        [RESPONSES, 'parts-of-price', 60 * 1 + 30 * 0.1 + 10 * 1.25 + 15 * 2 + 5 * 3],
        [MESSAGES, 'claude-parts', 60 * 1 + 30 * 0.1 + 10 * 1.25 + 20 * 2],
      ])(
        'by %s has cached, written and reasoning tokens at their own rates, streamed too',
        async (path, model, cost) => {
          upstream().on(model, {
            usage: { input: 100, cached: 30, cacheWrites: 10, output: 20, reasoning: 5 },
          });
          for (const stream of [false, true]) {
            const body = { model, messages: HELLO, input: 'x', stream, max_tokens: 50 };
            const { reply, call } = await over(path, body);
            expect(reply.status).toBe(200);
            if (path === CHAT && stream) expect(reply.text).not.toContain('prompt_tokens');
            expect(call).toMatchObject({
              ...{ status: 'settled', inputTokens: 100, cachedInputTokens: 30, outputTokens: 20 },
              costCents: Number((cost / 1_000).toFixed(6)),
            });
          }
        },
      );

      it.each([
        [CHAT, 'late-error', { errorIn200: 'stream' }, 'failed'],
        [RESPONSES, 'late-error', { status: 500 }, 'failed'],
        [MESSAGES, 'claude-broken', { errorIn200: 'body' }, 'failed'],
        [MESSAGES, 'claude-broken', { usage: 'omitted' }, 'estimated'],
      ] as const)('by a stream of %s from %s, which is %j, is %s', async (path, model, behaviour, status) => {
        upstream().on(model, { ...behaviour, turns: [{ text: 'a long answer' }] });
        const { call } = await over(path, {
          model,
          messages: HELLO,
          input: 'x',
          stream: true,
          max_tokens: 50,
        });
        expect(call).toMatchObject({ status, costCents: status === 'failed' ? 0 : call.reservedCents });
      });
    });
  });
};
