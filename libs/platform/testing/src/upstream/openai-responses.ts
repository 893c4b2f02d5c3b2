import type { StreamPart } from './behaviour.js';
import { contentText, countOf, listOf, textOf, type Body } from './body.js';
import { tokensOf, type Question, type Reply, type ToolCall } from './reply.js';

const CREATED = 1_750_000_000;

export const responsesQuestion = (body: Body): Question => {
  const { input } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input);
  const last = items.findLastIndex((item) => item['role'] === 'user');
  return {
    model: textOf(body['model']),
    text: contentText(items[last]?.['content']),
    toolResults: items
      .slice(last + 1)
      .filter((item) => (item as Body)['type'] === 'function_call_output')
      .map((item) => contentText((item as Body)['output'])),
    tools: listOf(body['tools']).map((tool) => textOf(tool['name'])),
    outputLimit: countOf(body['max_output_tokens']),
    input: [body['instructions'], input, body['tools']],
    choices: 1,
  };
};

const usageOf = ({ usage }: Reply) =>
  usage && {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrites },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };

const messageOf = (text: string, status: string) => ({
  id: 'msg_67ccd3acc8d48190a77525dc6de64b4104becb25c45c1d41',
  type: 'message',
  status,
  role: 'assistant',
  content: status === 'in_progress' ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

const callOf = (call: ToolCall, status: string) => ({
  id: `fc_${call.id}`,
  type: 'function_call',
  status,
  call_id: `call_${call.id}`,
  name: call.name,
  arguments: status === 'in_progress' ? '' : call.arguments,
});

const statusOf = ({ ending }: Reply): 'completed' | 'incomplete' =>
  ending === 'length' ? 'incomplete' : 'completed';

const responseOf = (reply: Reply, body: Body, status: string): object => {
  const output = [
    ...(reply.text === '' ? [] : [messageOf(reply.text, status)]),
    ...reply.toolCalls.map((call) => callOf(call, status)),
  ];
  return {
    id: 'resp_67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d41',
    object: 'response',
    created_at: CREATED,
    status,
    background: false,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: null,
    model: reply.model,
    output: status === 'in_progress' ? [] : output,
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: body['tools'] ?? [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: status === 'in_progress' ? null : (usageOf(reply) ?? null),
    user: null,
    metadata: {},
  };
};

export const response = (reply: Reply, body: Body): object => responseOf(reply, body, statusOf(reply));

/** The provider numbers its events. */
export function* responseEvents(reply: Reply, body: Body): Generator<StreamPart> {
  let number = 0;
  for (const { type, ...members } of eventsOf(reply, body)) {
    yield { event: type, data: { type, sequence_number: number, ...members } };
    number += 1;
  }
}

type Event = { readonly type: string } & Body;

function* eventsOf(reply: Reply, body: Body): Generator<Event> {
  const begun = responseOf(reply, body, 'in_progress');
  yield { type: 'response.created', response: begun };
  yield { type: 'response.in_progress', response: begun };
  if (reply.text !== '') yield* textEvents(reply);
  const offset = reply.text === '' ? 0 : 1;
  for (const [index, call] of reply.toolCalls.entries()) yield* callEvents(call, index + offset);
  const status = statusOf(reply);
  yield { type: `response.${status}`, response: responseOf(reply, body, status) };
}

function* textEvents(reply: Reply): Generator<Event> {
  const { text } = reply;
  const item = messageOf(text, statusOf(reply));
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const part = (value: string) => ({ type: 'output_text', text: value, annotations: [], logprobs: [] });
  yield { type: 'response.output_item.added', output_index: 0, item: messageOf(text, 'in_progress') };
  yield { type: 'response.content_part.added', ...place, part: part('') };
  for (const token of tokensOf(text))
    yield {
      type: 'response.output_text.delta',
      ...place,
      delta: token,
      logprobs: [],
      obfuscation: 'x7Wd1a',
    };
  yield { type: 'response.output_text.done', ...place, text, logprobs: [] };
  yield { type: 'response.content_part.done', ...place, part: part(text) };
  yield { type: 'response.output_item.done', output_index: 0, item };
}

function* callEvents(call: ToolCall, index: number): Generator<Event> {
  const place = { item_id: `fc_${call.id}`, output_index: index };
  yield { type: 'response.output_item.added', output_index: index, item: callOf(call, 'in_progress') };
  for (const token of tokensOf(call.arguments))
    yield { type: 'response.function_call_arguments.delta', ...place, delta: token, obfuscation: 'x7Wd1a' };
  yield { type: 'response.function_call_arguments.done', ...place, arguments: call.arguments };
  yield { type: 'response.output_item.done', output_index: index, item: callOf(call, 'completed') };
}
