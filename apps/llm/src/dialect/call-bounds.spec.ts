import { describe, expect, it } from 'vitest';
import { aModel, CHAT, COUNT_TOKENS, EMBEDDINGS, MESSAGES, RESPONSES } from '../fixtures/models.fixture.js';
import { choicesOf, inputBound, outputLimit } from './call-bounds.js';

const MODEL = aModel();
const content = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });

describe('the bound of the input', () => {
  it('is the length of the body as the caller sent it and 1,024 tokens', () => {
    expect(inputBound({ model: 'm' }, 500, MODEL)).toBe(1_524);
  });

  it('is never more than the context of the model, to the last token', () => {
    expect(inputBound({}, 8_976, MODEL)).toBe(10_000);
    expect(inputBound({}, 8_977, MODEL)).toBe(10_000);
    expect(inputBound({}, 8_975, MODEL)).toBe(9_999);
  });

  it('is at most one context for a whole batch to embed', () => {
    expect(inputBound({ input: ['a', 'b', 'c'] }, 50_000, MODEL)).toBe(10_000);
  });

  it('counts bytes, not characters, of a body that grows when it is sent on', () => {
    expect(inputBound({ user: 'é', seed: 1e20 }, 10, MODEL)).toBe(
      1_024 + Buffer.byteLength('{"user":"é","seed":100000000000000000000}'),
    );
  });

  it.each([
    ['an image in chat', content({ type: 'image_url', image_url: { url: 'https://a.example/i.png' } })],
    ['an image named by a string', content({ type: 'image_url', image_url: 'http://a.example/i.png' })],
    ['a video named by a string', content({ type: 'video_url', video_url: 'https://a.example/v' })],
    [
      'an image in responses',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a' }] }] },
    ],
    [
      'a file in responses',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a' }] }] },
    ],
    ['an image in messages', content({ type: 'image', source: { type: 'url', url: 'https://a' } })],
    [
      'a document in the result of a tool',
      content({
        type: 'tool_result',
        content: [{ type: 'document', source: { type: 'url', url: 'ftp://a' } }],
      }),
    ],
    ['a part of the system prompt', { system: [{ type: 'image', source: { url: 'https://a' } }] }],
  ])('is the context of the model if %s is given by URL', (_what, body) => {
    expect(inputBound(body, 500, MODEL)).toBe(10_000);
  });

  it.each([
    ['data: URLs', content({ type: 'image_url', image_url: { url: 'DATA:image/png;base64,AAAA' } })],
    ['text that names a URL', content({ type: 'text', text: 'https://a.example' })],
    ['what a model gave to a tool', content({ type: 'tool_use', input: { url: 'https://a' } })],
    ['arguments of a function', { input: [{ type: 'function_call', arguments: { url: 'https://a' } }] }],
  ])('is the length of the body with %s', (_what, body) => {
    expect(inputBound(body, 500, MODEL)).toBe(1_524);
  });
});

describe('the limit of the output', () => {
  it.each([
    [CHAT, { max_tokens: 10, max_completion_tokens: 20 }, 20],
    [CHAT, { max_tokens: 30, max_completion_tokens: 20 }, 30],
    [CHAT, { max_tokens: 10 }, 10],
    [CHAT, { max_completion_tokens: 5_000 }, 5_000],
    [RESPONSES, { max_output_tokens: 7 }, 7],
    [MESSAGES, { max_tokens: 8 }, 8],
  ])('is the larger of those that the caller set: $1', (operation, body, tokens) => {
    expect(outputLimit(body, operation, MODEL)).toMatchObject({ tokens, isCallers: true });
  });

  it.each([
    [CHAT, 'max_completion_tokens'],
    [RESPONSES, 'max_output_tokens'],
    [MESSAGES, 'max_tokens'],
  ])('is set to what the model allows, in $1, if the caller set none, or null', (operation, member) => {
    const expected = { tokens: 1_000, members: [member], isCallers: false };
    expect(outputLimit({}, operation, MODEL)).toEqual(expected);
    expect(outputLimit({ [member]: null }, operation, MODEL)).toEqual(expected);
  });

  it('is not taken from a member of another route', () => {
    expect(outputLimit({ max_tokens: 1 }, RESPONSES, MODEL).tokens).toBe(1_000);
    expect(outputLimit({ max_output_tokens: 1 }, CHAT, MODEL).tokens).toBe(1_000);
  });

  it('is read from the member that the model names, too', () => {
    const model = aModel({ outputLimitMember: 'max_new_tokens' });
    expect(outputLimit({ max_new_tokens: 9, max_tokens: 3 }, CHAT, model).tokens).toBe(9);
  });

  it('does not exist on a route without output', () => {
    for (const operation of [EMBEDDINGS, COUNT_TOKENS])
      expect(outputLimit({}, operation, MODEL)).toEqual({ tokens: 0, members: [], isCallers: false });
  });
});

const NOT_POSITIVE: readonly (readonly [unknown])[] = [
  [0],
  [-1],
  [1.5],
  ['5'],
  [true],
  [[1]],
  [{}],
  [2 ** 53],
];
const refused = { status: 400, type: 'invalid_request_error' };

describe('what is not a positive integer', () => {
  it.each(NOT_POSITIVE)('is refused as a limit, also beside a valid one: %j', (value) => {
    for (const [operation, body] of [
      [CHAT, { max_tokens: value, max_completion_tokens: 5 }],
      [CHAT, { max_tokens: 5, max_completion_tokens: value }],
      [RESPONSES, { max_output_tokens: value }],
      [MESSAGES, { max_tokens: value }],
    ] as const)
      expect(() => outputLimit(body, operation, MODEL)).toThrow(expect.objectContaining(refused));
  });

  it.each(NOT_POSITIVE)('is refused as the number of choices, under any of its names: %j', (count) => {
    for (const body of [{ n: count }, { n: 2, best_of: count }])
      expect(() => choicesOf(body)).toThrow(expect.objectContaining(refused));
  });
});

describe('the number of choices', () => {
  it('is `n`, and 1 if the caller did not set it', () => {
    expect([choicesOf({ n: 3 }), choicesOf({}), choicesOf({ n: null })]).toEqual([3, 1, 1]);
  });

  it.each(['best_of', 'n_cmpl', 'num_return_sequences', 'candidate_count'])(
    'is the largest of those that the caller set, `%s` among them',
    (member) => {
      expect([choicesOf({ [member]: 7 }), choicesOf({ n: 3, [member]: 7 })]).toEqual([7, 7]);
      expect(choicesOf({ n: 9, [member]: 7 })).toBe(9);
    },
  );
});
