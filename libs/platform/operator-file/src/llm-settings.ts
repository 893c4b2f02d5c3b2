import { parseCents, type Millionths } from '@berth/kernel';
import { repeated, type Fault } from './fault.js';
import type { LlmText } from './llm.schema.js';

/** The shapes of requests and responses that an upstream has. */
export type Dialect = 'openai' | 'anthropic';

/** An upstream. */
export interface LlmProvider {
  readonly id: string;
  readonly dialect: Dialect;
  /** Ends in `/v1`; routes are below. */
  readonly baseUrl: string;
  /** The environment variable that holds the key. */
  readonly apiKeyEnv: string;
  /** Whether plain http and private addresses are allowed. */
  readonly insecure: boolean;
}

/** Millionths of a cent for a million tokens. */
export interface LlmRates {
  readonly input: Millionths;
  readonly cachedInput: Millionths;
  readonly cacheWrite: Millionths;
  readonly output: Millionths;
  readonly reasoning: Millionths;
}

export interface LlmModel {
  readonly name: string;
  readonly provider: LlmProvider;
  /** A rate that the file leaves out is that of input or of output. */
  readonly rates: LlmRates;
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** The member of requests that limits the output; null: that of the route. */
  readonly outputLimitMember: string | null;
  /** Values of `anthropic-beta` that agents may send. */
  readonly allowedBetas: readonly string[];
}

/** The section `llm`; without it there are no models. */
export interface LlmSettings {
  readonly providers: readonly LlmProvider[];
  readonly models: readonly LlmModel[];
  /** The model that the template `assistant` uses; null if the file names none. */
  readonly defaultModel: LlmModel | null;
}

/** Checks of the section that its schema cannot express. */
export const llmFaults = ({ providers = [], models = [], defaultModel }: LlmText): readonly Fault[] => [
  ...repeated(
    providers,
    ({ id }) => id,
    (index) => ['llm', 'providers', index, 'id'],
  ),
  ...providers.flatMap(({ baseUrl, insecure }, index) =>
    baseUrl.startsWith('http:') && insecure !== true
      ? [{ path: ['llm', 'providers', index, 'baseUrl'], what: 'must be https unless `insecure` is true' }]
      : [],
  ),
  ...repeated(
    models,
    ({ name }) => name,
    (index) => ['llm', 'models', index, 'name'],
  ),
  ...models.flatMap(({ provider }, index) =>
    providers.some(({ id }) => id === provider)
      ? []
      : [{ path: ['llm', 'models', index, 'provider'], what: 'must be the id of a provider' }],
  ),
  ...(defaultModel === undefined || models.some(({ name }) => name === defaultModel)
    ? []
    : [{ path: ['llm', 'defaultModel'], what: 'must be the name of a model' }]),
];

/** The settings of a section without faults. */
export const llmSettings = ({ providers = [], models = [], defaultModel }: LlmText): LlmSettings => {
  const known = providers.map((provider) => ({ ...provider, insecure: provider.insecure ?? false }));
  const settings = models.flatMap((model) => {
    const provider = known.find(({ id }) => id === model.provider);
    return provider === undefined ? [] : [modelOf(model, provider)];
  });
  const chosen = settings.find(({ name }) => name === defaultModel);
  return { providers: known, models: settings, defaultModel: chosen ?? null };
};

type ModelText = NonNullable<LlmText['models']>[number];

const modelOf = (text: ModelText, provider: LlmProvider): LlmModel => {
  const input = amount(text.inputCentsPerMillion);
  const output = amount(text.outputCentsPerMillion);
  const { cachedInputCentsPerMillion, cacheWriteCentsPerMillion, reasoningCentsPerMillion } = text;
  return {
    name: text.name,
    provider,
    rates: {
      input,
      cachedInput: cachedInputCentsPerMillion === undefined ? input : amount(cachedInputCentsPerMillion),
      cacheWrite: cacheWriteCentsPerMillion === undefined ? input : amount(cacheWriteCentsPerMillion),
      output,
      reasoning: reasoningCentsPerMillion === undefined ? output : amount(reasoningCentsPerMillion),
    },
    contextTokens: text.contextTokens,
    maxOutputTokens: text.maxOutputTokens,
    outputLimitMember: text.outputLimitMember ?? null,
    allowedBetas: text.allowedBetas ?? [],
  };
};

const amount = (cents: number): Millionths => parseCents(cents) ?? 0n;
