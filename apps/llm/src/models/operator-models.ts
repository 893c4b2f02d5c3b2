import type { LlmDialect } from '@berth/contracts/llm';
import { OperatorSettings } from '@berth/operator-file';
import { Injectable } from '@nestjs/common';
import { LlmConfig } from '../config.js';
import { ModelCatalogue, type Model } from './model-catalogue.js';

/** The models of the operator's file, as it is now. */
@Injectable()
export class OperatorModels extends ModelCatalogue {
  constructor(
    private readonly settings: OperatorSettings,
    private readonly config: LlmConfig,
  ) {
    super();
  }

  list(dialect: LlmDialect): readonly Model[] {
    const { models, defaultModel } = this.settings.current.llm;
    return models
      .filter(({ provider }) => provider.dialect === dialect)
      .map((model) => ({
        ...model,
        isDefault: model === defaultModel,
        provider: { ...model.provider, apiKey: this.config.apiKey(model.provider.apiKeyEnv) },
      }));
  }
}
