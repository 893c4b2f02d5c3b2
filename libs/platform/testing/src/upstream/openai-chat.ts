import type { StreamPart } from './behaviour.js';
import { contentText, countOf, listOf, objectOf, textOf, type Body } from './body.js';
import { tokensOf, type Question, type Reply, type ToolCall } from './reply.js';

const CREATED = 1_750_000_000;
const FINISH = { stop: 'stop', length: 'length', tools: 'tool_calls' } as const;

export const chatQuestion = (body: Body): Question => {
  const messages = listOf(body['messages']);
  const last = messages.findLastIndex((message) => message['role'] === 'user');
  return {
    model: textOf(body['model']),
    text: contentText(messages[last]?.['content']),
    toolResults: messages
      .slice(last + 1)
      .filter((message) => message['role'] === 'tool')
      .map((message) => contentText(message['content'])),
    tools: listOf(body['tools']).map((tool) => textOf(objectOf(tool['function'])['name'])),
    outputLimit: countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']),
    input: [body['messages'], body['tools']],
    choices: countOf(body['n']) ?? 1,
  };
};

/** The message and parameter of the provider's 400; undefined if it accepts the body. */
export const chatProblem = (body: Body): readonly [message: string, parameter: string] | undefined => {
  if (listOf(body['messages']).length === 0) return ["Missing required parameter: 'messages'.", 'messages'];
  if (objectOf(body['stream_options'])['include_usage'] !== undefined && body['stream'] !== true)
    return ["The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options'];
  if (countOf(body['max_tokens']) !== undefined && countOf(body['max_completion_tokens']) !== undefined)
    return [
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      'max_tokens',
    ];
  return undefined;
};

const usageOf = ({ usage }: Reply) =>
  usage && {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      audio_tokens: 0,
      ...(usage.cacheWrites > 0 && { cache_write_tokens: usage.cacheWrites }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };

const callOf = (call: ToolCall) => ({
  id: `call_${call.id}`,
  type: 'function',
  function: { name: call.name, arguments: call.arguments },
});

const headOf = (reply: Reply, object: string) => ({
  id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
  object,
  created: CREATED,
  model: reply.model,
  service_tier: 'default',
  system_fingerprint: 'fp_44709d6fcb',
});

export const chatCompletion = (reply: Reply, choices: number): object => ({
  ...headOf(reply, 'chat.completion'),
  choices: Array.from({ length: choices }, (_, index) => ({
    index,
    message: {
      role: 'assistant',
      content: reply.toolCalls.length > 0 && reply.text === '' ? null : reply.text,
      refusal: null,
      annotations: [],
      ...(reply.toolCalls.length > 0 && { tool_calls: reply.toolCalls.map(callOf) }),
    },
    logprobs: null,
    finish_reason: FINISH[reply.ending],
  })),
  ...(reply.usage && { usage: usageOf(reply) }),
});

/** The chunks of all choices in turn, then the usage if requested, then `[DONE]`. */
export function* chatChunks(reply: Reply, choices: number, includeUsage: boolean): Generator<StreamPart> {
  const chunk = (list: readonly object[], usage: object | null | undefined): StreamPart => ({
    data: {
      ...headOf(reply, 'chat.completion.chunk'),
      choices: list,
      ...(includeUsage && { usage: usage ?? null }),
      obfuscation: 'x7Wd1a',
    },
  });
  const all = Array.from({ length: choices }, (_, index) => index);
  for (const { delta, finish } of deltasOf(reply)) {
    for (const index of all) yield chunk([{ index, delta, logprobs: null, finish_reason: finish }], null);
  }
  if (includeUsage && reply.usage !== undefined) yield chunk([], usageOf(reply));
  yield { data: '[DONE]' };
}

function* deltasOf(reply: Reply): Generator<{ readonly delta: object; readonly finish: string | null }> {
  yield { delta: { role: 'assistant', content: '', refusal: null }, finish: null };
  for (const token of tokensOf(reply.text)) yield { delta: { content: token }, finish: null };
  for (const [index, call] of reply.toolCalls.entries()) {
    const { function: called, ...named } = callOf(call);
    yield {
      delta: { tool_calls: [{ index, ...named, function: { ...called, arguments: '' } }] },
      finish: null,
    };
    for (const token of tokensOf(call.arguments))
      yield { delta: { tool_calls: [{ index, function: { arguments: token } }] }, finish: null };
  }
  yield { delta: {}, finish: FINISH[reply.ending] };
}
