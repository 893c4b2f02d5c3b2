import { describe, expect, it } from 'vitest';
import type { Operation } from '../dialect/operation.js';
import { CHAT, MESSAGES, RESPONSES } from '../fixtures/models.fixture.js';
import { outcomeOfStream } from '../route/call-outcome.js';
import { isUsageChunk, NO_FACTS, readEvent, tellsNothing } from './stream-usage.js';

const factsOf = (operation: Operation, events: readonly unknown[]) =>
  events
    .map((event) => (typeof event === 'string' ? event : JSON.stringify(event)))
    .reduce((facts, data) => readEvent(facts, data, operation), NO_FACTS);
const outcome = (operation: Operation, events: readonly unknown[], isComplete = true) =>
  outcomeOfStream(factsOf(operation, events), isComplete);
const known = (tokens: object) => ({
  kind: 'known',
  tokens: { cachedInput: 0, cacheWrite: 0, reasoning: 0, ...tokens },
});

const WORD = { choices: [{ delta: { content: 'hi' } }], usage: null };
const CHAT_USAGE = {
  prompt_tokens: 9,
  completion_tokens: 4,
  prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 2 },
  completion_tokens_details: { reasoning_tokens: 3 },
};

describe('a chat stream', () => {
  it('settles to the usage of its last chunk, with cached, cache-writing and reasoning tokens', () => {
    expect(outcome(CHAT, [WORD, { choices: [], usage: CHAT_USAGE }, '[DONE]'])).toEqual(
      known({ input: 9, cachedInput: 6, cacheWrite: 2, output: 4, reasoning: 3 }),
    );
  });

  it('settles to the usage even if the connection is lost behind that chunk', () => {
    const events = [WORD, { choices: [], usage: CHAT_USAGE }];
    expect(outcome(CHAT, events, false)).toMatchObject({ kind: 'known' });
  });

  it('settles to the last of several usages so far, unless it broke off before its end', () => {
    const soFar = (completion_tokens: number) => ({
      ...WORD,
      usage: { prompt_tokens: 9, completion_tokens },
    });
    expect(outcome(CHAT, [soFar(1), soFar(2)])).toEqual(known({ input: 9, output: 2 }));
    expect(outcome(CHAT, [soFar(1), soFar(2)], false)).toMatchObject({ kind: 'unknown' });
  });

  it('is unknown without a usage', () => {
    expect(outcome(CHAT, [WORD, '[DONE]'])).toMatchObject({ kind: 'unknown' });
    expect(outcome(CHAT, ['', '{broken', '[1]', 'null'])).toMatchObject({ kind: 'unknown' });
  });

  it('costs nothing if its error comes before any output, and is unknown if it comes later', () => {
    const error = { error: { message: 'overloaded' } };
    expect(outcome(CHAT, [error])).toEqual({ kind: 'failed' });
    const role = { choices: [{ delta: { role: 'assistant', content: '', tool_calls: [] } }] };
    expect(outcome(CHAT, [role, error])).toEqual({ kind: 'failed' });
    const call = { choices: [{ delta: { tool_calls: [{ index: 0 }] } }] };
    expect(outcome(CHAT, [role, call, error])).toMatchObject({ kind: 'unknown' });
    expect(outcome(CHAT, [WORD, error])).toMatchObject({ kind: 'unknown' });
  });
});

describe('the chunk that is kept from a caller', () => {
  it('is the one with usage and without choices, and no other', () => {
    expect(isUsageChunk(JSON.stringify({ choices: [], usage: CHAT_USAGE }))).toBe(true);
    expect(isUsageChunk(JSON.stringify({ ...WORD, usage: CHAT_USAGE }))).toBe(false);
    expect(isUsageChunk(JSON.stringify({ choices: [], usage: null }))).toBe(false);
    expect(isUsageChunk(JSON.stringify({ choices: [] }))).toBe(false);
    expect(isUsageChunk('[DONE]')).toBe(false);
  });
});

describe('a stream of responses', () => {
  const created = { type: 'response.created', response: { usage: null } };
  const word = { type: 'response.output_text.delta', delta: 'hi' };
  const usage = {
    input_tokens: 9,
    output_tokens: 4,
    input_tokens_details: { cached_tokens: 6 },
    output_tokens_details: { reasoning_tokens: 3 },
  };

  it.each(['response.completed', 'response.incomplete', 'response.failed'])(
    'settles to the usage of %s',
    (type) => {
      expect(outcome(RESPONSES, [created, word, { type, response: { usage } }])).toEqual(
        known({ input: 9, cachedInput: 6, output: 4, reasoning: 3 }),
      );
    },
  );

  it.each([
    { type: 'response.failed', response: { usage: null } },
    { type: 'error', message: 'x' },
  ])('costs nothing if its error comes before any output, and is unknown if it comes later: %j', (error) => {
    expect(outcome(RESPONSES, [created, error])).toEqual({ kind: 'failed' });
    expect(outcome(RESPONSES, [created, word, error])).toMatchObject({ kind: 'unknown' });
  });

  it('costs nothing if it failed before any output, whatever usage it reports', () => {
    const events = [created, { type: 'response.failed', response: { usage } }];
    expect(outcome(RESPONSES, events)).toEqual({ kind: 'failed' });
  });
});

describe('a stream of messages', () => {
  const started = {
    type: 'message_start',
    message: {
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 40,
        cache_creation_input_tokens: 30,
        output_tokens: 1,
      },
    },
  };
  const word = { type: 'content_block_delta', delta: { text: 'hi' } };
  const delta = (usage: object) => ({ type: 'message_delta', usage });

  it('settles to the input of its beginning and the output of its end', () => {
    expect(outcome(MESSAGES, [started, word, delta({ output_tokens: 7 }), { type: 'message_stop' }])).toEqual(
      known({ input: 80, cachedInput: 40, cacheWrite: 30, output: 7 }),
    );
  });

  it('takes the last of cumulative counts, not their sum', () => {
    const events = [started, delta({ output_tokens: 3 }), delta({ output_tokens: 7 })];
    expect(outcome(MESSAGES, events)).toMatchObject({ tokens: { input: 80, output: 7 } });
  });

  it('takes from its end the counts that the end repeats, and the others from its beginning', () => {
    expect(outcome(MESSAGES, [started, delta({ input_tokens: 12, output_tokens: 7 })])).toEqual(
      known({ input: 82, cachedInput: 40, cacheWrite: 30, output: 7 }),
    );
    const nulls = { input_tokens: null, cache_read_input_tokens: 50, output_tokens: 7 };
    expect(outcome(MESSAGES, [started, delta(nulls)])).toEqual(
      known({ input: 90, cachedInput: 50, cacheWrite: 30, output: 7 }),
    );
  });

  it('is unknown without its end, or without the count of its input', () => {
    expect(outcome(MESSAGES, [started, word], false)).toEqual({
      kind: 'unknown',
      tokens: { input: 80, cachedInput: 40, cacheWrite: 30, output: 1, reasoning: 0 },
    });
    expect(outcome(MESSAGES, [word, delta({ output_tokens: 7 })])).toMatchObject({ kind: 'unknown' });
  });

  it('costs nothing if its error comes before any output, and is unknown if it comes later', () => {
    const error = { type: 'error', error: { type: 'overloaded_error' } };
    expect(outcome(MESSAGES, [started, error])).toEqual({ kind: 'failed' });
    const block = { type: 'content_block_start', content_block: { type: 'text', text: '' } };
    expect(outcome(MESSAGES, [started, block, error])).toEqual({ kind: 'failed' });
    expect(outcome(MESSAGES, [started, word, error])).toMatchObject({ kind: 'unknown' });
  });
});

describe('an event that is not read', () => {
  const begun = { ...NO_FACTS, hasOutput: true };
  const bytes = (event: object): Buffer => Buffer.from(`data: ${JSON.stringify(event)}\n\n`);

  it('is one of output behind the first output, as all upstreams write it', () => {
    expect(tellsNothing(begun, bytes(WORD))).toBe(true);
    expect(tellsNothing(begun, Buffer.from('data: {"choices":[{}],"usage": null, "error" : null}\n\n'))).toBe(
      true,
    );
    expect(tellsNothing(begun, bytes({ type: 'content_block_delta', delta: { text: 'naïve \u0001' } }))).toBe(
      false,
    );
    expect(tellsNothing(NO_FACTS, bytes(WORD))).toBe(false);
  });

  it.each([
    { choices: [], usage: CHAT_USAGE },
    { error: { message: 'no' } },
    { type: 'error' },
    { type: 'response.failed', response: {} },
    { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'message_delta', usage: { output_tokens: 3 } },
  ])('is none that tells how the call ends: %j', (event) => {
    const all = Buffer.concat([bytes(WORD), bytes(event), bytes(WORD)]);
    expect(tellsNothing(begun, all)).toBe(false);
    const escaped = JSON.stringify(event).replace(
      /"(\w)/g,
      (_, one: string) => `"\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    expect(JSON.parse(escaped)).toEqual(event);
    expect(tellsNothing(begun, Buffer.from(`data: ${escaped}\n\n`))).toBe(false);
  });
});
