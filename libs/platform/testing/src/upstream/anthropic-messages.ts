import type { StreamPart } from './behaviour.js';
import { contentText, countOf, listOf, textOf, type Body } from './body.js';
import { tokensOf, type Question, type Reply, type ToolCall } from './reply.js';

const STOP = { stop: 'end_turn', length: 'max_tokens', tools: 'tool_use' } as const;

export const messagesQuestion = (body: Body): Question => {
  const messages = listOf(body['messages']);
  const isResult = (part: Body): boolean => part['type'] === 'tool_result';
  const last = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !listOf(content).some(isResult),
  );
  return {
    model: textOf(body['model']),
    text: contentText(messages[last]?.['content']),
    toolResults: messages
      .slice(last + 1)
      .flatMap((message) => listOf(message['content']))
      .filter(isResult)
      .map((part) => contentText(part['content'])),
    tools: listOf(body['tools']).map((tool) => textOf(tool['name'])),
    outputLimit: countOf(body['max_tokens']),
    input: [body['system'], body['messages'], body['tools']],
    choices: 1,
  };
};

/** The message of the provider's 400; undefined if it accepts the body. */
export const messagesProblem = (body: Body, counts: boolean): string | undefined => {
  if (listOf(body['messages']).length === 0) return 'messages: Field required';
  if (!counts && body['max_tokens'] === undefined) return 'max_tokens: Field required';
  return undefined;
};

/** The dialect counts what is read from and written to the cache beside the input, not within it. */
const inputOf = ({ usage }: Reply) =>
  usage && {
    input_tokens: usage.input - usage.cached - usage.cacheWrites,
    cache_creation_input_tokens: usage.cacheWrites,
    cache_read_input_tokens: usage.cached,
  };

const usageOf = (reply: Reply, output: number | undefined) =>
  reply.usage && {
    ...inputOf(reply),
    cache_creation: {
      ephemeral_5m_input_tokens: reply.usage.cacheWrites,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens: output,
    service_tier: 'standard',
    inference_geo: 'not_available',
  };

const useOf = (call: ToolCall, input: unknown) => ({
  type: 'tool_use',
  id: `toolu_${call.id}`,
  name: call.name,
  input,
});

const headOf = (reply: Reply) => ({
  id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
  type: 'message',
  role: 'assistant',
  model: reply.model,
});

export const message = (reply: Reply): object => ({
  ...headOf(reply),
  content: [
    ...(reply.text === '' ? [] : [{ type: 'text', text: reply.text }]),
    ...reply.toolCalls.map((call) => useOf(call, JSON.parse(call.arguments))),
  ],
  stop_reason: STOP[reply.ending],
  stop_sequence: null,
  stop_details: null,
  ...(reply.usage && { usage: usageOf(reply, reply.usage.output) }),
});

type Event = { readonly type: string } & Body;

export function* messageEvents(reply: Reply): Generator<StreamPart> {
  for (const data of eventsOf(reply)) yield { event: data.type, data };
}

function* eventsOf(reply: Reply): Generator<Event> {
  const open = { content: [], stop_reason: null, stop_sequence: null, stop_details: null };
  const usage = usageOf(reply, Math.min(1, reply.usage?.output ?? 0));
  yield { type: 'message_start', message: { ...headOf(reply), ...open, ...(usage && { usage }) } };
  const texts = reply.text === '' ? 0 : 1;
  if (texts === 1) yield* textEvents(reply.text);
  for (const [index, call] of reply.toolCalls.entries()) yield* callEvents(call, index + texts);
  yield {
    type: 'message_delta',
    delta: { stop_reason: STOP[reply.ending], stop_sequence: null, stop_details: null },
    ...(reply.usage && { usage: { ...inputOf(reply), output_tokens: reply.usage.output } }),
  };
  yield { type: 'message_stop' };
}

function* textEvents(text: string): Generator<Event> {
  yield { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
  yield { type: 'ping' };
  for (const token of tokensOf(text))
    yield { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: token } };
  yield { type: 'content_block_stop', index: 0 };
}

function* callEvents(call: ToolCall, index: number): Generator<Event> {
  yield { type: 'content_block_start', index, content_block: useOf(call, {}) };
  for (const token of tokensOf(call.arguments))
    yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: token } };
  yield { type: 'content_block_stop', index };
}
