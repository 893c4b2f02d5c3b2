import Type, { type Static } from 'typebox';
import { cents } from './cents.schema.js';
import { section } from './section.schema.js';

const MAX_TOKENS = 1_000_000_000;

const name = (description: string) => Type.String({ pattern: '^\\S{1,200}$', description });

const tokens = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_TOKENS, description });

const baseUrl = Type.Refine(
  Type.String({
    pattern: '^https?://[^?#]+/v1$',
    description: 'Ends in /v1 in both dialects. Plain http only with `insecure`.',
  }),
  (value) => {
    const url = URL.parse(value);
    return url !== null && url.username === '' && url.password === '' && url.href === value;
  },
  () => 'must be a URL without credentials that ends in /v1',
);

const provider = section({
  id: name('What models name.'),
  dialect: Type.Enum(['openai', 'anthropic']),
  baseUrl,
  apiKeyEnv: Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
    description: 'The environment variable of the service `llm` that holds the key.',
  }),
  insecure: Type.Optional(
    Type.Boolean({ description: 'Whether plain http and private addresses are allowed.' }),
  ),
});

const model = section({
  name: name('What agents name.'),
  provider: Type.String({ description: 'The id of a provider.' }),
  inputCentsPerMillion: cents('For a million tokens of input.'),
  cachedInputCentsPerMillion: Type.Optional(cents('For input read from a cache; by default as input.')),
  cacheWriteCentsPerMillion: Type.Optional(cents('For input written to a cache; by default as input.')),
  outputCentsPerMillion: cents('For a million tokens of output.'),
  reasoningCentsPerMillion: Type.Optional(cents('For reasoning; by default as output.')),
  contextTokens: tokens('The maximum input of one request, all items of a batch to embed together.'),
  maxOutputTokens: tokens('The maximum output.'),
  outputLimitMember: Type.Optional(
    Type.String({
      pattern: '^[a-z][a-z0-9_]{0,63}$',
      description:
        'The member of requests by which the provider limits the output; by default that of the route.',
    }),
  ),
  allowedBetas: Type.Optional(
    Type.Array(Type.String({ pattern: '^[^\\s,]+$' }), {
      uniqueItems: true,
      description: 'Values of `anthropic-beta` that agents may send.',
    }),
  ),
});

/** The section `llm`. */
export const llmSchema = section({
  providers: Type.Optional(Type.Array(provider)),
  models: Type.Optional(Type.Array(model)),
  defaultModel: Type.Optional(Type.String({ description: 'What the template `assistant` uses.' })),
});
export type LlmText = Static<typeof llmSchema>;
