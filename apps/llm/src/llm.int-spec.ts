import { llmRequests } from '@berth/contracts/llm';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { UPSTREAM_KEY } from '@berth/testing/upstream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, ServedLlm } from './fixtures/served-llm.fixture.js';

let served: ServedLlm;

beforeAll(async () => {
  served = await ServedLlm.start();
});
afterAll(() => served.stop());

const USAGE = { input: 1_000, cached: 400, output: 100, reasoning: 40 };

describe('a call', () => {
  it('reaches the upstream with its key, and is settled to the reported usage', async () => {
    const agent = served.agent({ endUserId: newId('eus') });
    served.upstream.on('gpt', { usage: USAGE, headers: { 'x-request-id': 'up-1' } });
    const { status, body, headers } = await served.chat(agent);
    expect([status, headers.get('x-request-id')]).toEqual([200, 'up-1']);
    expect(body['usage']).toMatchObject({
      prompt_tokens: 1_000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 400 },
    });
    expect(served.upstream.requests).toMatchObject([
      {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
        body: { ...CHAT, max_completion_tokens: 1_000 },
      },
    ]);
    // 600 × 1,000 + 400 × 500 + 100 × 2,000 cents for a million tokens
    const bytes = Buffer.byteLength(JSON.stringify(CHAT));
    const reserved = String((bytes + 1_024) * 1_000 + 1_000 * 2_000);
    await eventually(async () =>
      expect(await served.calls(agent)).toMatchObject([
        {
          agentId: agent.agentId,
          endUserId: agent.endUserId,
          model: 'gpt',
          dialect: 'openai',
          status: 'settled',
          inputTokens: 1_000,
          cachedInputTokens: 400,
          outputTokens: 100,
          cost: '1000000',
          reserved,
        },
      ]),
    );
    const at = new Date().toISOString();
    const spend = await served.requester.request(llmRequests.spend, { endUserId: agent.endUserId ?? '', at });
    expect(spend).toEqual({ settled: '1000000', reserved: '0' });
  });

  it('is a stream that passes as it arrives, without the chunk that the caller did not ask for', async () => {
    const agent = served.agent();
    served.upstream.on('streamed', { turns: [{ text: 'hi' }], usage: USAGE });
    const { text } = await served.chat(agent, { model: 'streamed', stream: true });
    expect(text).toContain('"content":"hi"');
    expect(text).not.toContain('prompt_tokens');
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    const [sent] = served.upstream.requestsFor('streamed');
    expect(sent?.body['stream_options']).toEqual({ include_usage: true });
    await eventually(async () =>
      expect(await served.calls(agent)).toMatchObject([{ status: 'settled', cost: '1000000' }]),
    );
  });
});

describe('a refused call', () => {
  const shapes = [
    ['openai', 'chat/completions', (error: object) => ({ error: { ...error, param: null } })],
    ['anthropic', 'messages', (error: object) => ({ type: 'error', error })],
  ] as const;

  it.each(shapes)(
    'of a suspended end user is 403 as %s has it, is not sent, and is listed',
    async (dialect, path, shape) => {
      const agent = served.agent({ endUserId: newId('eus'), suspended: 'end_user_suspended' });
      const before = served.upstream.requests.length;
      const model = dialect === 'openai' ? 'gpt' : 'claude';
      const refused = await served.post(agent, `${dialect}/v1/${path}`, { ...CHAT, model, max_tokens: 5 });
      const error = {
        type: 'permission_error',
        code: 'end_user_suspended',
        message: expect.any(String) as string,
      };
      expect([refused.status, refused.body]).toEqual([403, shape(error)]);
      expect(await served.calls(agent)).toMatchObject([
        { model, dialect, status: 'refused', cost: '0', reserved: '0' },
      ]);
      expect(served.upstream.requests.length).toBe(before);
    },
  );

  it.each(shapes)(
    'without a token is 401, and with too long a body 413, as %s has it',
    async (dialect, path, shape) => {
      const { token } = served.agent();
      const error = (type: string, code: string) =>
        shape({ type, code, message: expect.any(String) as string });
      const unknown = await served.post({ token: 'at_unknown' }, `${dialect}/v1/${path}`, CHAT);
      expect([unknown.status, unknown.body]).toEqual([401, error('authentication_error', 'unauthenticated')]);
      const long = ' '.repeat(32 * 1_024 * 1_024 + 1);
      const tooLong = await served.post({ token }, `${dialect}/v1/${path}`, long);
      expect([tooLong.status, tooLong.body]).toEqual([413, error('request_too_large', 'payload_too_large')]);
    },
  );
});

describe('a free call', () => {
  it('lists models or counts tokens, and is not listed', async () => {
    const agent = served.agent({ endUserId: newId('eus'), capCents: 0 });
    const models = await fetch(`${await served.url()}/agent/v1/llm/openai/v1/models`, {
      headers: { 'x-api-key': agent.token },
    });
    expect(models.status).toBe(200);
    const body = { ...CHAT, model: 'claude' };
    const headers = { 'anthropic-version': '2023-06-01' };
    const counted = await served.post(agent, 'anthropic/v1/messages/count_tokens', body, { headers });
    expect([counted.status, counted.body]).toEqual([200, { input_tokens: expect.any(Number) as number }]);
    const refused = await served.chat(agent);
    expect(refused.status).toBe(402);
    // Rows are in order: a free call would have its own by now.
    expect(await served.calls(agent)).toMatchObject([{ status: 'refused', model: 'gpt' }]);
  });
});

describe('a cap', () => {
  it('is not passed by 100 parallel calls to a slow upstream', async () => {
    // Each reserves 1,000 tokens of output and its input, about 3.1 cents; ten of them fit.
    const agent = served.agent({ endUserId: newId('eus'), capCents: 32 });
    const gate = Promise.withResolvers<undefined>();
    served.upstream.on('capped', {
      beforeHeaders: gate.promise,
      usage: { input: 1_000, output: 1_000 },
    });
    const replies = Array.from({ length: 100 }, () =>
      served.chat(agent, { model: 'capped', max_tokens: 1_000 }),
    );
    await eventually(() => expect(served.upstream.requestsFor('capped')).toHaveLength(10));
    gate.resolve(undefined);
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 402)).toHaveLength(90);
  });
});

describe('a suspension', () => {
  it.each(['end_user_suspended', 'account_suspended'] as const)(
    'refuses every call as %s, and records the refusal without a cost',
    async (suspended) => {
      const agent = served.agent({ endUserId: newId('eus'), suspended });
      const { status, body } = await served.chat(agent);
      expect([status, body['error']]).toMatchObject([403, { code: suspended }]);
      await eventually(async () =>
        expect(await served.calls(agent)).toMatchObject([{ status: 'refused', cost: '0' }]),
      );
    },
  );
});

describe('the connections of one account', () => {
  it('leave others one: a further call is 429 until one of its calls has ended', async () => {
    const others = await served.url();
    const service = await served.launch(undefined, { maxConnections: 3 });
    const agent = served.agent();
    const url = await eventually(async () => {
      const found = await served.url();
      expect(found).not.toBe(others);
      return found;
    });
    const list = (): Promise<Response> =>
      fetch(`${url}/agent/v1/llm/openai/v1/models`, { headers: { authorization: `Bearer ${agent.token}` } });
    const gate = Promise.withResolvers<undefined>();
    served.upstream.on('gpt', { beforeHeaders: gate.promise });
    const already = served.upstream.requestsFor('gpt').length;
    const calls = [1, 2].map(() => served.chat(agent, {}, url));
    await eventually(() => expect(served.upstream.requestsFor('gpt')).toHaveLength(already + 2));
    const refused = await list();
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      429,
      '1',
      { error: { type: 'rate_limit_error', code: 'rate_limited' } },
    ]);
    gate.resolve(undefined);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
    await eventually(async () => expect((await list()).status).toBe(200));
    await served.stopService(service);
  });
});
