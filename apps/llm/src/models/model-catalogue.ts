import type { LlmDialect } from '@berth/contracts/llm';
import type { Rates } from '../ledger/token-price.js';

/** A provider of models, from the operator's file. */
export interface Provider {
  readonly dialect: LlmDialect;
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Undefined: the variable that the operator's file names is not set. */
  readonly apiKey: string | undefined;
  /** Whether it may be reached by plain http and at private addresses. */
  readonly insecure: boolean;
}

export interface Model {
  readonly name: string;
  readonly provider: Provider;
  readonly rates: Rates;
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** The member that limits the output, if it is not the usual one of the route. */
  readonly outputLimitMember: string | null;
  readonly allowedBetas: readonly string[];
  /** Whether the operator chose it for programs that name none. */
  readonly isDefault: boolean;
}

/** The models of the operator's file. */
export abstract class ModelCatalogue {
  /** The models of a dialect, as the file has them now. */
  abstract list(dialect: LlmDialect): readonly Model[];

  find(dialect: LlmDialect, name: string): Model | undefined {
    return this.list(dialect).find((model) => model.name === name);
  }
}
