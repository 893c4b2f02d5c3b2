import type { LlmDialect } from '@berth/contracts/llm';
import { describe, expect, it } from 'vitest';
import { aModel } from '../fixtures/models.fixture.js';
import { ModelCatalogue, type Model } from './model-catalogue.js';
import { modelList } from './model-list.js';

const MODELS = [aModel({ name: 'a', isDefault: true }), aModel({ name: 'b' })];

describe('the list of models', () => {
  it('has the shape of the OpenAI dialect', () => {
    const model = { object: 'model', created: 0, owned_by: 'berth' };
    expect(modelList('openai', MODELS)).toEqual({
      object: 'list',
      data: [
        { id: 'a', ...model, default: true },
        { id: 'b', ...model },
      ],
    });
    expect(modelList('openai', [])).toEqual({ object: 'list', data: [] });
  });

  it('has the shape of the Anthropic dialect', () => {
    const model = { type: 'model', created_at: '1970-01-01T00:00:00.000Z' };
    expect(modelList('anthropic', MODELS)).toEqual({
      data: [
        { ...model, id: 'a', display_name: 'a', default: true },
        { ...model, id: 'b', display_name: 'b' },
      ],
      has_more: false,
      first_id: 'a',
      last_id: 'b',
    });
    expect(modelList('anthropic', [])).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });

  it('shows neither rates nor the provider', () => {
    const secret = aModel({
      provider: {
        dialect: 'openai',
        baseUrl: 'https://hidden.example/v1',
        apiKey: 'hidden-key',
        insecure: false,
      },
    });
    for (const dialect of ['openai', 'anthropic'] as const)
      expect(JSON.stringify(modelList(dialect, [secret]))).not.toMatch(/hidden|rate|cent/i);
  });
});

describe('a model', () => {
  class Listed extends ModelCatalogue {
    override list(dialect: LlmDialect): readonly Model[] {
      return [aModel({ name: 'gpt' }), aModel({ name: 'claude' }, 'anthropic')].filter(
        ({ provider }) => provider.dialect === dialect,
      );
    }
  }

  it('is found by its whole name, in its own dialect only', () => {
    const models = new Listed();
    expect(models.find('openai', 'gpt')?.name).toBe('gpt');
    expect(models.find('anthropic', 'gpt')).toBeUndefined();
    expect(models.find('openai', 'claude')).toBeUndefined();
    expect(models.find('openai', 'GPT')).toBeUndefined();
  });
});
