import { describe, expect, it } from 'vitest';
import { CHAT, EMBEDDINGS, MESSAGES, RESPONSES } from '../fixtures/models.fixture.js';
import { hidesUsage, upstreamBody } from './upstream-body.js';

const NONE = { members: [], tokens: 0 };

describe('the body for the upstream', () => {
  it('is what the caller sent where nothing has to be set, members of tomorrow included', () => {
    const body = { model: 'm', messages: [], tomorrow: { a: null } };
    expect(upstreamBody(body, CHAT, NONE)).toEqual(body);
    expect(upstreamBody(body, MESSAGES, NONE)).toEqual(body);
    expect(upstreamBody({ model: 'm', input: 'x' }, EMBEDDINGS, NONE)).toEqual({ model: 'm', input: 'x' });
  });

  it.each([
    { max_tokens: null },
    { max_tokens: 99 },
    { max_completion_tokens: 99, max_output_tokens: 99, max_new_tokens: 99, max_tokens_to_sample: 99 },
    { n_predict: 99, num_predict: 99, max_length: 99 },
    { MAX_TOKENS: 99, 'max_to\u212Aen\u017F': 99, Max_Completion_Tokens: 99 },
  ])('has the limit that was reserved in place of every other, whatever its name: %j', (limits) => {
    const limit = { members: ['max_tokens'], tokens: 12 };
    expect(upstreamBody({ model: 'm', ...limits }, MESSAGES, limit)).toEqual({ model: 'm', max_tokens: 12 });
  });

  it('stores nothing: `store` becomes false, on responses even unasked', () => {
    expect(upstreamBody({ store: true }, CHAT, NONE)).toEqual({ store: false });
    expect(upstreamBody({ store: true }, RESPONSES, NONE)).toEqual({ store: false });
    expect(upstreamBody({ store: null }, RESPONSES, NONE)).toEqual({ store: false });
    expect(upstreamBody({}, RESPONSES, NONE)).toEqual({ store: false });
    expect(upstreamBody({}, CHAT, NONE)).toEqual({});
  });

  it.each(['priority', 'flex', 'auto', 'default'])('is billed at the usual tier instead of %s', (tier) => {
    expect(upstreamBody({ service_tier: tier }, CHAT, NONE)).toEqual({ service_tier: 'default' });
    expect(upstreamBody({ service_tier: tier }, RESPONSES, NONE)).toMatchObject({ service_tier: 'default' });
    expect(upstreamBody({ service_tier: tier }, MESSAGES, NONE)).toEqual({ service_tier: 'standard_only' });
  });
});

describe('a chat stream that would not report its usage', () => {
  it.each([
    [{ stream: true }, {}],
    [{ stream: true, stream_options: null }, {}],
    [{ stream: true, stream_options: { include_usage: false } }, {}],
    [{ stream: true, stream_options: { include_usage: null, other: 1 } }, { other: 1 }],
  ])('is asked for it, and the chunk is kept from the caller: %j', (body, options) => {
    expect(upstreamBody(body, CHAT, NONE)).toEqual({
      stream: true,
      stream_options: { ...options, include_usage: true },
    });
    expect(hidesUsage(body, CHAT)).toBe(true);
  });

  it('gives the caller the chunk that it asked for', () => {
    const body = { stream: true, stream_options: { include_usage: true } };
    expect(upstreamBody(body, CHAT, NONE)).toEqual(body);
    expect(hidesUsage(body, CHAT)).toBe(false);
  });

  it.each([
    ['chat', {}, CHAT],
    ['chat', { stream: false }, CHAT],
    ['responses', { stream: true }, RESPONSES],
    ['messages', { stream: true }, MESSAGES],
  ])('is not any other call: $0 with $1', (_route, body, operation) => {
    expect(hidesUsage(body, operation)).toBe(false);
    expect(upstreamBody(body, operation, NONE)).not.toHaveProperty('stream_options');
  });
});
