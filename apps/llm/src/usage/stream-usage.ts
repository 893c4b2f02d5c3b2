import type { Operation } from '../dialect/operation.js';
import { isObject, listOf, memberOf } from '../dialect/json-value.js';
import { NO_TOKENS, type Tokens } from '../ledger/token-price.js';
import { anthropicUsage, openaiUsage } from './reported-usage.js';

/** The usage that the events of a stream have reported so far. */
export interface StreamFacts {
  /** The usage of the whole call; undefined until it is known. */
  readonly usage: Tokens | undefined;
  /** Whether it stays as it is; some upstreams report the usage so far with every chunk. */
  readonly isFinal: boolean;
  /** What is known of it before that: the input of a message that has only begun. */
  readonly known: Tokens;
  /** Whether an event was an error. */
  readonly failed: boolean;
  /** Whether any output has arrived. */
  readonly hasOutput: boolean;
}

export const NO_FACTS: StreamFacts = {
  usage: undefined,
  isFinal: false,
  known: NO_TOKENS,
  failed: false,
  hasOutput: false,
};

/** Reads the next event; `data` is that of the event. */
export const readEvent = (facts: StreamFacts, data: string, { dialect, name }: Operation): StreamFacts => {
  const event = parse(data);
  if (event === undefined) return facts;
  if (memberOf(event, 'error') !== undefined || memberOf(event, 'type') === 'error')
    return { ...facts, failed: true };
  if (dialect === 'anthropic') return readAnthropic(facts, event);
  return name === 'responses' ? readResponses(facts, event) : readChat(facts, event);
};

/**
 * What an event that tells something behind the first output contains: the name of a member, the type of an event, or an
 * escaped ASCII character, of which such a name may be written.
 */
const TELLING = /usage(?!" ?: ?null)|error(?!" ?: ?null)|failed|\\u00/;

/**
 * Whether `readEvent` changes nothing for any of the events in `bytes`, and none only reports the usage. Most of a stream
 * is of this kind, which this tells far sooner than reading it.
 */
export const tellsNothing = ({ hasOutput }: StreamFacts, bytes: Buffer): boolean =>
  hasOutput && !TELLING.test(bytes.toString('latin1'));

/** Whether an event of a chat stream only reports the usage. */
export const isUsageChunk = (data: string): boolean => {
  const event = parse(data);
  return isObject(memberOf(event, 'usage')) && listOf(memberOf(event, 'choices')).length === 0;
};

const readChat = (facts: StreamFacts, event: unknown): StreamFacts => {
  const usage = memberOf(event, 'usage');
  const choices = listOf(memberOf(event, 'choices'));
  const hasChoices = choices.length > 0;
  const tokens = isObject(usage) ? openaiUsage(usage) : undefined;
  return {
    ...facts,
    hasOutput: facts.hasOutput || choices.some(isOutput),
    usage: tokens ?? facts.usage,
    isFinal: facts.isFinal || (tokens !== undefined && !hasChoices),
  };
};

/** The first chunk of many upstreams only names the role. */
const isOutput = (choice: unknown): boolean => {
  const delta = memberOf(choice, 'delta');
  return (
    !isObject(delta) || Object.keys(delta).some((name) => name !== 'role' && hasValue(memberOf(delta, name)))
  );
};

const hasValue = (value: unknown): boolean =>
  value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

/** The last event holds the whole response, whether it is complete, incomplete or failed. */
const readResponses = (facts: StreamFacts, event: unknown): StreamFacts => {
  const type = memberOf(event, 'type');
  const usage = memberOf(memberOf(event, 'response'), 'usage');
  const tokens = isObject(usage) ? openaiUsage(usage) : undefined;
  return {
    ...facts,
    usage: tokens ?? facts.usage,
    isFinal: facts.isFinal || tokens !== undefined,
    failed: facts.failed || type === 'response.failed',
    hasOutput: facts.hasOutput || (typeof type === 'string' && type.startsWith('response.output')),
  };
};

/** The beginning reports the input, the end the output; counts are cumulative, and the end may repeat some of the input. */
const readAnthropic = (facts: StreamFacts, event: unknown): StreamFacts => {
  switch (memberOf(event, 'type')) {
    case 'message_start': {
      const usage = memberOf(memberOf(event, 'message'), 'usage');
      return { ...facts, known: (isObject(usage) ? anthropicUsage(usage) : undefined) ?? facts.known };
    }
    case 'content_block_delta':
      return { ...facts, hasOutput: true };
    case 'message_delta':
      return readMessageDelta(facts, memberOf(event, 'usage'));
    default:
      return facts;
  }
};

const readMessageDelta = (facts: StreamFacts, usage: unknown): StreamFacts => {
  if (!isObject(usage)) return facts;
  // Without its beginning the input is unknown.
  const begun = facts.known === NO_TOKENS ? undefined : facts.known;
  const tokens = anthropicUsage(usage, begun);
  return tokens === undefined ? facts : { ...facts, usage: tokens, isFinal: true };
};

const parse = (data: string): unknown => {
  if (!data.startsWith('{')) return undefined;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
};
