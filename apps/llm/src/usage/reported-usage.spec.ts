import { describe, expect, it } from 'vitest';
import { CHAT, EMBEDDINGS, MESSAGES, RESPONSES } from '../fixtures/models.fixture.js';
import { usageOf } from './reported-usage.js';

describe('the usage of a whole response', () => {
  it('is read from a chat, with cached, cache-writing and reasoning tokens', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    const expected = { input: 100, cachedInput: 40, cacheWrite: 10, output: 50, reasoning: 20 };
    expect(usageOf({ choices: [], usage }, CHAT)).toEqual(expected);
  });

  it('is read from a response, with cached and reasoning tokens', () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 50,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 20 },
    };
    const expected = { input: 100, cachedInput: 40, cacheWrite: 0, output: 50, reasoning: 20 };
    expect(usageOf({ output: [], usage }, RESPONSES)).toEqual(expected);
  });

  it('of embeddings is input only', () => {
    const expected = { input: 8, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    expect(usageOf({ usage: { prompt_tokens: 8, total_tokens: 8 } }, EMBEDDINGS)).toEqual(expected);
  });

  it('of messages counts cached and cache-written tokens as input, which the upstream leaves out', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 30,
      output_tokens: 5,
    };
    const expected = { input: 80, cachedInput: 40, cacheWrite: 30, output: 5, reasoning: 0 };
    expect(usageOf({ usage }, MESSAGES)).toEqual(expected);
  });

  it('has no details where the upstream reports none, or null', () => {
    const expected = { input: 7, cachedInput: 0, cacheWrite: 0, output: 3, reasoning: 0 };
    const openai = { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: null };
    const anthropic = { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: null };
    expect(usageOf({ usage: openai }, CHAT)).toEqual(expected);
    expect(usageOf({ usage: anthropic }, MESSAGES)).toEqual(expected);
  });

  it('never has parts that are more than the whole', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 9 },
    };
    const expected = { input: 10, cachedInput: 8, cacheWrite: 2, output: 5, reasoning: 5 };
    expect(usageOf({ usage }, CHAT)).toEqual(expected);
  });

  it('has at most a million million tokens of a kind, so that sums of them are exact', () => {
    const usage = { prompt_tokens: 1e12, completion_tokens: 1e12 };
    expect(usageOf({ usage }, CHAT)).toMatchObject({ input: 1e12, output: 1e12 });
  });

  it.each([
    undefined,
    'text',
    {},
    { usage: null },
    { usage: [] },
    { usage: { prompt_tokens: 5 } },
    { usage: { completion_tokens: 5 } },
    { usage: { prompt_tokens: -1, completion_tokens: 5 } },
    { usage: { prompt_tokens: 1.5, completion_tokens: 5 } },
    { usage: { prompt_tokens: '1', completion_tokens: 5 } },
    { usage: { prompt_tokens: 5, completion_tokens: 1e12 + 1 } },
    { usage: { prompt_tokens: 5, completion_tokens: Number.MAX_SAFE_INTEGER } },
  ])('is unknown, and not 0, where a count is missing, no whole number or larger: %j', (body) => {
    expect(usageOf(body, CHAT)).toBeUndefined();
    expect(usageOf(body, MESSAGES)).toBeUndefined();
  });
});
