import { eventually } from '@berth/testing';
import type { FakeUpstream } from '@berth/testing/upstream';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import { centsOf, LlmAgent, modelsOf, type ListedCall } from './llm.fixture.js';
import type { Stack } from './stack.fixture.js';

const HELLO = [{ role: 'user', content: 'hello' }];
const CALL = [{ role: 'user', content: 'use shell {"command":"ls"}' }];
const SCHEMA = { type: 'object', properties: { command: { type: 'string' } } };
const CHAT_TOOL = { type: 'function', function: { name: 'shell', parameters: SCHEMA } };
const SETTLED = { timeoutMs: 60_000, intervalMs: 250 };

/** Models, over HTTP: through the gateway, and through the relay of an agent. */
export const describeLlm = (stack: () => Stack, upstream: () => FakeUpstream): void => {
  const api = new Api(stack);

  describe('the unchanged SDKs in an agent', () => {
    it('chat, stream, call tools, embed, count and list models, and each call that costs is settled', async () => {
      const { id } = await api.runningAgent({ templateId: 'sdk' });
      const sdk = async (method: string, body: object = {}): Promise<unknown> => {
        const { body: reply } = await api.chat(id, JSON.stringify({ method, body }));
        return JSON.parse(reply.response);
      };
      const chat = { model: 'gpt', messages: HELLO };
      const said = { value: { choices: [{ message: { content: 'echo: hello' } }] } };
      expect(await sdk('chat', chat)).toMatchObject(said);
      expect(await sdk('chatStream', chat)).toMatchObject(said);
      const tooled = { model: 'gpt', messages: CALL, tools: [CHAT_TOOL] };
      const called = { function: { name: 'shell', arguments: '{"command":"ls"}' } };
      for (const method of ['chat', 'chatStream'])
        expect(await sdk(method, tooled)).toMatchObject({
          value: { choices: [{ message: { tool_calls: [called] } }] },
        });
      for (const method of ['response', 'responseStream'])
        expect(await sdk(method, { model: 'gpt', input: 'hello' })).toMatchObject({
          value: { output_text: 'echo: hello', store: false },
        });
      expect(await sdk('embeddings', { model: 'gpt', input: ['a', 'b'] })).toMatchObject({
        value: { data: [{ index: 0 }, { index: 1 }] },
      });
      const message = { model: 'claude', messages: HELLO, max_tokens: 100 };
      for (const method of ['message', 'messageStream'])
        expect(await sdk(method, message)).toMatchObject({
          value: { content: [{ type: 'text', text: 'echo: hello' }], stop_reason: 'end_turn' },
        });
      expect(await sdk('message', { ...message, model: 'gpt' })).toMatchObject({
        error: { status: 404, body: { type: 'error', error: { code: 'model_not_found' } } },
      });
      expect(await sdk('countTokens', { model: 'claude', messages: HELLO })).toEqual({
        value: { input_tokens: expect.any(Number) as number },
      });
      expect(await sdk('models')).toMatchObject({
        value: expect.arrayContaining([expect.objectContaining({ id: 'gpt', default: true })]) as object,
      });
      expect(await sdk('anthropicModels')).toMatchObject({
        value: modelsOf('anthropic').map((id) => ({ id })),
      });
      await eventually(async () => {
        const { body } = await api.get<{ items: readonly ListedCall[] }>(`/api/v1/llm-calls?agentId=${id}`);
        const statuses = body.items.map(({ status }) => status);
        expect(statuses.toSorted()).toEqual(['refused', ...Array.from({ length: 9 }, () => 'settled')]);
        for (const { status, inputTokens, outputTokens, costCents } of body.items)
          if (status === 'settled') expect(costCents).toBeCloseTo(centsOf(inputTokens, outputTokens), 6);
      }, SETTLED);
    });

    it('the assistant uses the default model and its shell, and remembers that in a new process', async () => {
      const { id } = await api.runningAgent({ templateId: 'assistant' });
      const { body } = await api.chat(id, 'use shell {"command":"echo written > note; cat note"}');
      expect(body.response).toContain('written');
      const { body: files } = await api.get<{ entries: readonly { name: string }[] }>(
        `/api/agents/${id}/files/list?path=`,
      );
      expect(files.entries.map(({ name }) => name)).toContain('note');
      await api.post(`/api/agents/${id}/stop`);
      await api.inState(id, 'stopped', 30_000);
      await api.post(`/api/agents/${id}/start`);
      await api.inState(id, 'running', 30_000);
      expect((await api.chat(id, `what about ${id}?`)).status).toBe(200);
      const asked = upstream()
        .requestsFor('gpt')
        .map(({ body: sent }) => JSON.stringify(sent['messages']));
      expect(asked.findLast((messages) => messages.includes(id))).toContain('cat note');
    });
  });

  describe('a call', () => {
    let agent: LlmAgent;
    beforeAll(async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      agent = await LlmAgent.of(api, stack, id);
    }, 60_000);

    it('is never beyond the cap: of 20 at once to a slow upstream, those that fit are sent', async () => {
      const { externalId, agentId } = await anOwner(api, { templateId: 'blank' });
      const policy = { llm_spend_cap_cents_per_month: 32 };
      expect((await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body: { policy } })).status).toBe(
        200,
      );
      const capped = await LlmAgent.of(api, stack, agentId);
      const gate = Promise.withResolvers<undefined>();
      // Each reserves 1,000 tokens of output and about 1,100 of input, 3.1 cents; ten of them fit.
      upstream().on('capped', { beforeHeaders: gate.promise, usage: { input: 1_000, output: 1_000 } });
      const replies = Array.from({ length: 20 }, () => capped.send('capped', { max_tokens: 1_000 }));
      await eventually(() => expect(upstream().requestsFor('capped')).toHaveLength(10), SETTLED);
      gate.resolve(undefined);
      const statuses = (await Promise.all(replies)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
      expect(statuses.filter((status) => status === 402)).toHaveLength(10);
      await eventually(async () => {
        const calls = await capped.calls('capped');
        const cost = calls.reduce((sum, { costCents }) => sum + costCents, 0);
        expect([calls.length, cost]).toEqual([20, 10 * centsOf(1_000, 1_000)]);
      }, SETTLED);
    });

    it.each([
      ['whose upstream tells no usage', 'silent', { usage: 'omitted' }, 200, 'estimated'],
      [
        'whose upstream bills above the limit',
        'dear',
        { usage: { input: 10, output: 5_000 } },
        200,
        'settled',
      ],
      ['that is redirected', 'redirecting', { redirectTo: '/v1/models' }, 502, 'failed'],
      ['that the upstream forbids', 'unauthorized', { status: 403 }, 502, 'failed'],
      ['that the upstream cannot serve now', 'overloaded', { status: 429 }, 429, 'failed'],
      ['with an error in place of a body', 'error-in-200', { errorIn200: 'body' }, 200, 'failed'],
      ['whose connection is lost before any response', 'early-break', { breaksOffAfter: 0 }, 502, 'failed'],
    ] as const)('%s is recorded as what it cost', async (_what, model, behaviour, status, recorded) => {
      upstream().on(model, behaviour);
      // What an agent claims in its body does not count.
      const reply = await agent.send(model, { usage: { prompt_tokens: 0, completion_tokens: 0 } });
      expect(reply.status).toBe(status);
      expect(reply.headers.get('set-cookie')).toBeNull();
      expect(reply.headers.get('openai-organization')).toBeNull();
      await eventually(async () => {
        const [call, ...others] = await agent.calls(model);
        expect([call?.status, others]).toEqual([recorded, []]);
        const expected = { settled: centsOf(10, 5_000), estimated: call?.reservedCents, failed: 0 };
        expect(call?.costCents).toBe(expected[recorded]);
      }, SETTLED);
      expect(upstream().requestsFor(model)).toHaveLength(1);
    });

    it('whose stream breaks off in the middle is settled as estimated, at what was reserved', async () => {
      upstream().on('broken', { textTokens: 50, breaksOffAfter: 10 });
      await expect(agent.send('broken', { stream: true })).rejects.toThrow();
      await eventually(async () => {
        const [call] = await agent.calls('broken');
        expect(call).toMatchObject({ status: 'estimated', costCents: call?.reservedCents });
      }, SETTLED);
    });

    it('whose caller hangs up is read to its end, and settled to the reported usage', async () => {
      const gate = Promise.withResolvers<undefined>();
      upstream().on('left', {
        textTokens: 50,
        usage: { input: 20, output: 50 },
        pauseAfter: { chunks: 5, pause: gate.promise },
      });
      const controller = new AbortController();
      const reply = agent.send('left', { stream: true }, controller.signal);
      await eventually(() => expect(upstream().requestsFor('left')).toHaveLength(1));
      controller.abort();
      await expect(reply).rejects.toThrow();
      gate.resolve(undefined);
      await eventually(async () => {
        expect(await agent.calls('left')).toMatchObject([
          { status: 'settled', outputTokens: 50, costCents: centsOf(20, 50) },
        ]);
      }, SETTLED);
      expect(upstream().requestsFor('left')[0]?.hungUp).toBe(false);
    });
  });
};

/** With `llm` as a process of its own. */
export const describeKilledLlm = (
  stack: () => Stack & { replace(name: string): Promise<void> },
  upstream: () => FakeUpstream,
): void => {
  const api = new Api(stack);

  it('calls whose process is killed amid 50 streams are settled once, as estimated, also for the end user', async () => {
    const { externalId, agentId } = await anOwner(api, { templateId: 'blank' });
    const policy = { llm_spend_cap_cents_per_month: 1_000 };
    await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body: { policy } });
    const agent = await LlmAgent.of(api, stack, agentId);
    const gate = Promise.withResolvers<undefined>();
    upstream().on('killed', { textTokens: 50, pauseAfter: { chunks: 5, pause: gate.promise } });
    const replies = Array.from({ length: 50 }, () => agent.send('killed', { stream: true, max_tokens: 60 }));
    const ended = Promise.allSettled(replies);
    await eventually(() => expect(upstream().requestsFor('killed')).toHaveLength(50), SETTLED);
    await stack().replace('llm');
    gate.resolve(undefined);
    // No caller takes a part of a response for the whole.
    const complete = (await ended).filter(
      (reply) => reply.status === 'fulfilled' && reply.value.status < 500,
    );
    expect(complete).toEqual([]);
    await eventually(
      async () => {
        const calls = await agent.calls('killed');
        expect(calls).toHaveLength(50);
        for (const call of calls)
          expect(call).toMatchObject({ status: 'estimated', costCents: call.reservedCents });
        const aiCents = Number(calls.reduce((sum, { costCents }) => sum + costCents, 0).toFixed(6));
        const used = await api.get<{ totals: object }>(`/api/v1/usage?agentId=${agentId}`);
        expect(used.body.totals).toMatchObject({ llm: { requests: 50 }, aiCents });
        expect((await api.get(`${PEOPLE}/${externalId}`)).body['spend']).toMatchObject({ aiCents });
      },
      { timeoutMs: 120_000, intervalMs: 500 },
    );
  });
};
