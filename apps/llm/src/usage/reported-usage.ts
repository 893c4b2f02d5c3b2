import type { Operation } from '../dialect/operation.js';
import { isObject, memberOf } from '../dialect/json-value.js';
import type { Tokens } from '../ledger/token-price.js';

/** The usage of a response that is not a stream; undefined if it reports none. */
export const usageOf = (body: unknown, { dialect, name }: Operation): Tokens | undefined => {
  const usage = memberOf(body, 'usage');
  if (!isObject(usage)) return undefined;
  if (dialect === 'anthropic') return anthropicUsage(usage);
  return openaiUsage(name === 'embeddings' ? { ...usage, completion_tokens: 0 } : usage);
};

type Usage = Readonly<Record<string, unknown>>;

/** Chat completions and embeddings report `prompt_tokens` and `completion_tokens`, responses `input_tokens` and `output_tokens`. */
export const openaiUsage = (usage: Usage): Tokens | undefined => {
  const input = count(usage['prompt_tokens'] ?? usage['input_tokens']);
  const output = count(usage['completion_tokens'] ?? usage['output_tokens']);
  if (input === undefined || output === undefined) return undefined;
  const inputDetails = usage['prompt_tokens_details'] ?? usage['input_tokens_details'];
  const outputDetails = usage['completion_tokens_details'] ?? usage['output_tokens_details'];
  return consistent({
    input,
    cachedInput: count(memberOf(inputDetails, 'cached_tokens')) ?? 0,
    cacheWrite: count(memberOf(inputDetails, 'cache_write_tokens')) ?? 0,
    output,
    reasoning: count(memberOf(outputDetails, 'reasoning_tokens')) ?? 0,
  });
};

/**
 * In this dialect, `input_tokens` excludes the tokens that were read from the cache or written to it; `Tokens.input` includes
 * them. `begun`: the usage at the start of a stream, for members that the later `usage` leaves out.
 */
export const anthropicUsage = (usage: Usage, begun?: Tokens): Tokens | undefined => {
  const plain = count(usage['input_tokens']) ?? (begun === undefined ? undefined : plainInput(begun));
  const output = count(usage['output_tokens']);
  if (plain === undefined || output === undefined) return undefined;
  const cachedInput = count(usage['cache_read_input_tokens']) ?? begun?.cachedInput ?? 0;
  const cacheWrite = count(usage['cache_creation_input_tokens']) ?? begun?.cacheWrite ?? 0;
  return consistent({
    input: plain + cachedInput + cacheWrite,
    cachedInput,
    cacheWrite,
    output,
    reasoning: 0,
  });
};

const plainInput = ({ input, cachedInput, cacheWrite }: Tokens): number => input - cachedInput - cacheWrite;

/** Reduces each part to at most its whole, because an upstream may report more. */
const consistent = (tokens: Tokens): Tokens => {
  const cachedInput = Math.min(tokens.cachedInput, tokens.input);
  return {
    ...tokens,
    cachedInput,
    cacheWrite: Math.min(tokens.cacheWrite, tokens.input - cachedInput),
    reasoning: Math.min(tokens.reasoning, tokens.output),
  };
};

/** No call has more; sums of larger numbers would not be exact, nor fit into the tables. */
const MOST_TOKENS = 1_000_000_000_000;

/** A whole number of tokens; undefined for anything else. */
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS
    ? value
    : undefined;
