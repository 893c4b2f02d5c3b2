import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.js';
import { FakeUpstream, UPSTREAM_KEY } from './index.js';

let upstream: FakeUpstream;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = await FakeUpstream.start();
  openai = new OpenAI({ apiKey: UPSTREAM_KEY, baseURL: `${upstream.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: UPSTREAM_KEY, baseURL: upstream.url, maxRetries: 0 });
});
afterAll(() => upstream.stop());

const user = (content: string) => [{ role: 'user' as const, content }];
const SCHEMA = { type: 'object' as const, properties: { command: { type: 'string' } } };
const CALL = 'use shell {"command":"ls"}';

it('a chat completion has a choice for each of `n`, and the tokens of all of them', async () => {
  const completion = await openai.chat.completions.create({ model: 'm', messages: user('hello'), n: 2 });
  expect(completion.choices.map(({ message }) => message.content)).toEqual(['echo: hello', 'echo: hello']);
  // 11 characters are three tokens of four.
  expect(completion.usage).toMatchObject({ completion_tokens: 6 });
});

it('the chunks of a chat completion add up to its text, and the last one has the usage that was asked for', async () => {
  const stream = openai.chat.completions.stream({
    model: 'm',
    messages: user('hello'),
    stream_options: { include_usage: true },
  });
  const usages: unknown[] = [];
  for await (const { usage } of stream) usages.push(usage);
  expect(await stream.finalContent()).toBe('echo: hello');
  expect(usages.slice(0, -1).every((usage) => usage === null)).toBe(true);
  expect(usages.at(-1)).toMatchObject({ completion_tokens: 3 });
});

it('a stream tells no usage unless it was asked for', async () => {
  const stream = await openai.chat.completions.create({ model: 'm', messages: user('hello'), stream: true });
  for await (const chunk of stream) expect(chunk).not.toHaveProperty('usage');
});

it.each([true, false])('a chat completion calls a tool, streamed: %s', async (isStreamed) => {
  const tools = [{ type: 'function' as const, function: { name: 'shell', parameters: SCHEMA } }];
  const body = { model: 'm', messages: user(CALL), tools };
  const completion = isStreamed
    ? await openai.chat.completions.stream(body).finalChatCompletion()
    : await openai.chat.completions.create(body);
  const [choice] = completion.choices;
  expect(choice?.finish_reason).toBe('tool_calls');
  const [call] = choice?.message.tool_calls ?? [];
  expect(call).toMatchObject({ function: { name: 'shell', arguments: '{"command":"ls"}' } });
  const result = { role: 'tool' as const, tool_call_id: call?.id ?? '', content: 'a.txt' };
  const next = await openai.chat.completions.create({
    ...body,
    messages: [...body.messages, choice?.message as never, result],
  });
  expect(next.choices[0]?.message.content).toBe('tool: a.txt');
});

it.each([true, false])('a response has its text and calls tools, streamed: %s', async (isStreamed) => {
  const send = async (input: string) => {
    const tool = { type: 'function' as const, name: 'shell', parameters: SCHEMA, strict: false };
    const body = { model: 'm', input, tools: [tool] };
    return isStreamed ? openai.responses.stream(body).finalResponse() : openai.responses.create(body);
  };
  expect(await send('hello')).toMatchObject({ output_text: 'echo: hello', usage: { output_tokens: 3 } });
  const { output } = await send(CALL);
  expect(output[0]).toMatchObject({ type: 'function_call', name: 'shell', arguments: '{"command":"ls"}' });
});

it('a response that reaches its limit is incomplete', async () => {
  const stream = openai.responses.stream({ model: 'm', input: 'hello', max_output_tokens: 2 });
  expect(await stream.finalResponse()).toMatchObject({
    status: 'incomplete',
    output_text: 'echo: he',
    usage: { output_tokens: 2 },
  });
});

it('embeddings are the same as numbers and as base64', async () => {
  const body = { model: 'm', input: ['one', 'two'] };
  const packed = await openai.embeddings.create(body);
  const plain = await openai.embeddings.create({ ...body, encoding_format: 'float' });
  expect(packed.data).toHaveLength(2);
  expect([...(packed.data[0]?.embedding ?? [])]).toEqual(plain.data[0]?.embedding);
  expect(plain.data[0]?.embedding).not.toEqual(plain.data[1]?.embedding);
});

it.each([true, false])('a message has its text and calls tools, streamed: %s', async (isStreamed) => {
  const send = async (text: string, maxTokens = 100) => {
    const tools = [{ name: 'shell', input_schema: SCHEMA }];
    const body = { model: 'm', messages: user(text), max_tokens: maxTokens, tools };
    return isStreamed ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
  };
  expect(await send('hello')).toMatchObject({
    content: [{ type: 'text', text: 'echo: hello' }],
    stop_reason: 'end_turn',
    usage: { output_tokens: 3, cache_read_input_tokens: 0 },
  });
  expect(await send('hello', 1)).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 1 } });
  expect(await send(CALL)).toMatchObject({
    content: [{ type: 'tool_use', name: 'shell', input: { command: 'ls' } }],
    stop_reason: 'tool_use',
  });
});

it('a message counts what the cache read and wrote beside its input', async () => {
  upstream.on('cached', { usage: { input: 100, cached: 60, cacheWrites: 30, output: 7 } });
  const body = { model: 'cached', messages: user('hello'), max_tokens: 10 };
  expect((await anthropic.messages.create(body)).usage).toMatchObject({
    input_tokens: 10,
    cache_read_input_tokens: 60,
    cache_creation_input_tokens: 30,
    output_tokens: 7,
  });
});

it('tokens of messages are counted as a message counts them', async () => {
  const body = { model: 'm', messages: user('hello') };
  const { usage } = await anthropic.messages.create({ ...body, max_tokens: 10 });
  expect(await anthropic.messages.countTokens(body)).toEqual({ input_tokens: usage.input_tokens });
});

it('both dialects list models', async () => {
  expect((await openai.models.list()).data[0]?.id).toBe('upstream-model');
  expect((await anthropic.models.list()).data[0]?.id).toBe('upstream-claude');
});

it.each([401, 403, 429, 500])('an error %i has the shape of its dialect', async (status) => {
  upstream.on('failing', { status });
  const ofOpenai = openai.chat.completions.create({ model: 'failing', messages: user('hello') });
  await expect(ofOpenai).rejects.toMatchObject({ status, error: { type: expect.any(String) } });
  const ofAnthropic = anthropic.messages.create({ model: 'failing', messages: user('h'), max_tokens: 9 });
  await expect(ofAnthropic).rejects.toMatchObject({ status, error: { type: 'error' } });
});

it('a wrong key is refused', async () => {
  const stranger = new OpenAI({ apiKey: 'wrong', baseURL: `${upstream.url}/v1`, maxRetries: 0 });
  await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
});

it('the usage can be omitted or above the limit', async () => {
  upstream.on('silent', { usage: 'omitted' });
  const body = { messages: user('hello'), max_completion_tokens: 1 };
  expect(await openai.chat.completions.create({ ...body, model: 'silent' })).not.toHaveProperty('usage');
  upstream.on('dear', { usage: { output: 5_000 } });
  const { usage } = await openai.chat.completions.create({ ...body, model: 'dear' });
  expect(usage?.completion_tokens).toBe(5_000);
});

it('a stream breaks off in the middle, an error comes within a stream or in place of a body', async () => {
  const send = (model: string) => openai.chat.completions.stream({ model, messages: user('hello') });
  upstream.on('broken', { breaksOffAfter: 2 });
  await expect(send('broken').finalContent()).rejects.toThrow();
  upstream.on('late error', { errorIn200: 'stream' });
  await expect(send('late error').finalContent()).rejects.toThrow('overloaded');
  upstream.on('error as body', { errorIn200: 'body' });
  const { response } = await openai.chat.completions
    .create({ model: 'error as body', messages: user('hello') })
    .withResponse();
  expect(response.status).toBe(200);
});

it('a stream that pauses goes on when it may', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  upstream.on('slow', { pauseAfter: { chunks: 2, pause: promise } });
  const stream = openai.chat.completions.stream({ model: 'slow', messages: user('hello') });
  const chunks = stream[Symbol.asyncIterator]();
  await chunks.next();
  await chunks.next();
  resolve(undefined);
  expect(await stream.finalContent()).toBe('echo: hello');
});

it('the upstream keeps what it received, and notices a hang-up', async () => {
  upstream.on('hanging', { hangs: true });
  const controller = new AbortController();
  const call = openai.chat.completions.create(
    { model: 'hanging', messages: user('hello') },
    { signal: controller.signal },
  );
  await eventually(() => expect(upstream.requestsFor('hanging')).toHaveLength(1));
  controller.abort();
  await expect(call).rejects.toThrow();
  await eventually(() => expect(upstream.requestsFor('hanging')[0]?.hungUp).toBe(true));
  const [request] = upstream.requestsFor('hanging');
  expect(request).toMatchObject({ path: '/v1/chat/completions', body: { messages: user('hello') } });
  expect(request?.headers).toMatchObject({ authorization: `Bearer ${UPSTREAM_KEY}` });
});
