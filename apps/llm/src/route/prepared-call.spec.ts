import { describe, expect, it } from 'vitest';
import { aModel, CHAT, EMBEDDINGS, MESSAGES, RESPONSES } from '../fixtures/models.fixture.js';
import type { Operation } from '../dialect/operation.js';
import { upstreamBody } from '../dialect/upstream-body.js';
import { prepareCall, shownModel } from './prepared-call.js';

const MODELS = [
  aModel({ name: 'gpt' }),
  aModel({ name: 'older', outputLimitMember: 'max_tokens' }),
  aModel({ name: 'own', outputLimitMember: 'max_new_tokens' }),
  aModel({ name: 'claude', allowedBetas: ['a-1'] }, 'anthropic'),
];
const models = {
  find: (dialect: string, name: string) =>
    MODELS.find((model) => model.name === name && model.provider.dialect === dialect),
};
const prepare = (operation: Operation, body: Readonly<Record<string, unknown>>, headers = {}) =>
  prepareCall(operation, { body, bytes: 500 }, headers, models);
const refused = (more: object) => expect.objectContaining(more) as Error;

describe('a prepared call', () => {
  it('may shrink to what the budget affords if it has output and its caller set no limit, and only then', () => {
    expect(prepare(CHAT, { model: 'gpt', n: 2 }).demand).toMatchObject({
      bound: { inputTokens: 1_524, outputTokens: 1_000, choices: 2 },
      mayShrink: true,
    });
    expect(prepare(CHAT, { model: 'gpt', max_tokens: 3 }).demand).toMatchObject({
      bound: { outputTokens: 3, choices: 1 },
      mayShrink: false,
    });
    expect(prepare(EMBEDDINGS, { model: 'gpt', input: 'x' }).demand).toMatchObject({
      bound: { outputTokens: 0 },
      mayShrink: false,
    });
  });

  it.each([
    [CHAT, 'claude'],
    [MESSAGES, 'gpt'],
    [CHAT, 'none'],
    [CHAT, 'constructor'],
  ])('has a model of its own dialect: $1 is not found', (operation, model) => {
    const notFound = { status: 404, type: 'not_found_error', code: 'model_not_found' };
    expect(() => prepare(operation, { model })).toThrow(refused(notFound));
  });

  it.each([{}, { model: 7 }, { model: null }])('names its model: %j is refused', (body) => {
    expect(() => prepare(CHAT, body)).toThrow(refused({ status: 400, type: 'invalid_request_error' }));
  });

  it('has no value of `anthropic-beta` that its model does not list, in any of several headers', () => {
    const unsupported = refused({ status: 400, code: 'unsupported_parameter' });
    const beta = (value: string | string[]) =>
      prepare(MESSAGES, { model: 'claude' }, { 'anthropic-beta': value });
    expect(beta('a-1').model.name).toBe('claude');
    expect(() => beta('a-1, b-2')).toThrow(unsupported);
    expect(() => beta(['a-1', 'b-2'])).toThrow(unsupported);
  });

  it('has no parameter that is refused', () => {
    const unsupported = refused({ status: 400, code: 'unsupported_parameter' });
    expect(() => prepare(CHAT, { model: 'gpt', background: true })).toThrow(unsupported);
  });
});

describe('the limit of output that is reserved', () => {
  it.each([
    [CHAT, 'older', { max_completion_tokens: 1 }, { max_tokens: 1 }],
    [CHAT, 'older', { max_tokens: 2, max_completion_tokens: 3 }, { max_tokens: 3 }],
    [CHAT, 'older', {}, { max_tokens: 1_000 }],
    [CHAT, 'gpt', { max_tokens: 1 }, { max_completion_tokens: 1 }],
    [CHAT, 'gpt', { max_completion_tokens: 1, n_predict: 99 }, { max_completion_tokens: 1 }],
    [CHAT, 'own', { max_tokens: 5, max_completion_tokens: 1 }, { max_new_tokens: 5 }],
    [RESPONSES, 'gpt', { max_output_tokens: 1, max_tokens: 99 }, { max_output_tokens: 1 }],
    [RESPONSES, 'older', {}, { max_tokens: 1_000, max_output_tokens: 1_000 }],
    [RESPONSES, 'own', { max_output_tokens: 1 }, { max_new_tokens: 1, max_output_tokens: 1 }],
    [MESSAGES, 'claude', { max_tokens: 1, max_completion_tokens: 99 }, { max_tokens: 1 }],
  ] as const)(
    'is the one that is sent, under the names that the provider heeds and no other: $2 to $1',
    (operation, model, limits, expected) => {
      const { body, limit, demand } = prepare(operation, { model, ...limits });
      const { model: _model, store: _store, ...sent } = upstreamBody(body, operation, limit);
      expect(sent).toEqual(expected);
      expect(Object.values(sent)).toContain(demand.bound.outputTokens);
    },
  );
});

describe('the model that the list of calls shows', () => {
  it.each(['gpt', 'org/model#2', 'modèle(ü)', 'm'.repeat(200)])(
    'is any name that a model can have: %s',
    (model) => {
      expect(shownModel({ model })).toBe(model);
    },
  );

  it.each([
    {},
    { model: 7 },
    { model: 'a b' },
    { model: 'a\u0000' },
    { model: '\ud800' },
    { model: 'm'.repeat(201) },
  ])('is nothing for what cannot be a name: %j', (body) => {
    expect(shownModel(body)).toBe('');
  });
});
