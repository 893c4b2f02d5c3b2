import { llmRequests } from '@berth/contracts/llm';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { events, json, respondWithChat, CHAT_USAGE } from './fixtures/scripted-upstream.fixture.js';
import { CHAT, ServedLlm } from './fixtures/served-llm.fixture.js';

let served: ServedLlm;

beforeAll(async () => {
  served = await ServedLlm.start();
});
afterAll(() => served.stop());
beforeEach(() => served.upstream.does(respondWithChat));

describe('a call', () => {
  it('reaches the upstream with its key, and is settled to the reported usage', async () => {
    const agent = served.agent({ endUserId: newId('eus') });
    const { status, body, headers } = await served.chat(agent);
    expect([status, body['usage'], headers.get('x-request-id')]).toEqual([200, CHAT_USAGE, 'up-1']);
    expect(served.upstream.calls).toMatchObject([
      {
        path: '/v1/chat/completions',
        headers: { authorization: 'Bearer upstream-key' },
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
    served.upstream.does((_call, response) => {
      events(
        response,
        { choices: [{ delta: { content: 'hi' } }] },
        { choices: [], usage: CHAT_USAGE },
        '[DONE]',
      );
      response.end();
    });
    const { text } = await served.chat(agent, { stream: true });
    expect(text).toBe(`data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n`);
    expect(served.upstream.calls[0]?.body['stream_options']).toEqual({ include_usage: true });
    await eventually(async () =>
      expect(await served.calls(agent)).toMatchObject([{ status: 'settled', cost: '1000000' }]),
    );
  });
});

describe('a cap', () => {
  it('is not passed by 100 parallel calls to a slow upstream', async () => {
    // Each reserves 1,000 tokens of output and its input, about 3.1 cents; ten of them fit.
    const agent = served.agent({ endUserId: newId('eus'), capCents: 32 });
    const { promise, resolve } = Promise.withResolvers<void>();
    served.upstream.does(async (_call, response) => {
      await promise;
      json(response, { choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 1_000 } });
    });
    const replies = Array.from({ length: 100 }, () => served.chat(agent, { max_tokens: 1_000 }));
    await eventually(() => expect(served.upstream.calls.length).toBe(10));
    resolve();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 402)).toHaveLength(90);
  });
});
