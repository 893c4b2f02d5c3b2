import { describe, expect, it } from 'vitest';
import { dialectOf, operationsOf } from './operation.js';

const ROUTES = [
  ['openai/v1/chat/completions', 'POST', false],
  ['openai/v1/responses', 'POST', false],
  ['openai/v1/embeddings', 'POST', false],
  ['openai/v1/models', 'GET', true],
  ['anthropic/v1/messages', 'POST', false],
  ['anthropic/v1/messages/count_tokens', 'POST', true],
  ['anthropic/v1/models', 'GET', true],
] as const;

describe('a route', () => {
  it.each(ROUTES)('is %s by %s; it is free: %s', (path, method, isFree) => {
    expect(operationsOf(`/agent/v1/llm/${path}`)).toMatchObject([{ method, isFree }]);
  });

  it.each([
    'openai/v1/messages',
    'openai/v1/files',
    'openai/v1/responses/resp_1',
    'openai/v1/chat/completions/',
    'openai/chat/completions',
    'anthropic/v1/chat/completions',
    'anthropic/v1/messages/batches',
    'other/v1/models',
    'openai/v1/../v1/models',
  ])('is nothing else: %s', (path) => {
    expect(operationsOf(`/agent/v1/llm/${path}`)).toEqual([]);
  });
});

describe('an error on an unknown path', () => {
  it('has the shape of the dialect that the path names', () => {
    expect(dialectOf('/agent/v1/llm/anthropic/v1/files')).toBe('anthropic');
    expect(dialectOf('/agent/v1/llm/anthropic')).toBe('anthropic');
    expect(dialectOf('/agent/v1/llm/openai/v1/files')).toBe('openai');
    expect(dialectOf('/agent/v1/llm/other')).toBe('openai');
  });
});
