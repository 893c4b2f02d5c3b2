import type { LlmDialect } from '@berth/contracts/llm';
import type { Model } from './model-catalogue.js';

/** When models were made is unknown; SDKs require a time. */
const CREATED = 0;

/** The list of models in the shape of the dialect. The default one has a further member, which SDKs ignore: `default`. */
export const modelList = (dialect: LlmDialect, models: readonly Model[]): object => {
  if (dialect === 'openai')
    return {
      object: 'list',
      data: models.map(({ name, isDefault }) => ({
        id: name,
        object: 'model',
        created: CREATED,
        owned_by: 'berth',
        ...(isDefault && { default: true }),
      })),
    };
  const createdAt = new Date(CREATED).toISOString();
  return {
    data: models.map(({ name, isDefault }) => ({
      type: 'model',
      id: name,
      display_name: name,
      created_at: createdAt,
      ...(isDefault && { default: true }),
    })),
    has_more: false,
    first_id: models[0]?.name ?? null,
    last_id: models.at(-1)?.name ?? null,
  };
};
