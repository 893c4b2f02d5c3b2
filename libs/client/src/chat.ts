import { invalidResponse, isObject, parsed, requestIdOf } from './answers.js';
import { ServiceConnectionError, ServiceError } from './errors.js';
import { EventDecoder, type ServerSentEvent } from './events.js';
import type { OpenAnswer } from './open-answer.js';
import type { Redact } from './answers.js';

/** Why a message was not answered: what the service said, with its status and the id of the request. */
export interface DeliveryFailure {
  /** `agent_deploying`, `agent_stopped`, `agent_failed`, `agent_error`, `agent_unavailable` or `agent_timeout`. */
  readonly code: string;
  /** What happened and what to do. */
  readonly message: string;
  /** The HTTP status; undefined for a failure in a stream that has none. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly [member: string]: unknown;
}

/** The outcome of a chat. */
export interface ChatResult {
  /** What the agent answered; empty if the message was not answered. */
  readonly response: string;
  /** The conversation. If the message was not answered, the one of the caller, or null. */
  readonly conversationId: string | null;
  /** Why the message was not answered; missing if it was. */
  readonly error?: DeliveryFailure;
}

/** A part of a streamed chat: some `delta`, then one `done` or `error`. */
export type ChatEvent =
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'done'; readonly response: string; readonly conversationId: string | null }
  | { readonly type: 'error'; readonly error: DeliveryFailure };

const FAILURES: Readonly<Record<string, number>> = {
  agent_deploying: 409,
  agent_stopped: 409,
  agent_failed: 409,
  agent_error: 502,
  agent_unavailable: 503,
  agent_timeout: 504,
};

/** The failure to deliver that an error stands for; undefined for others. */
export const failureOf = (error: unknown): DeliveryFailure | undefined => {
  if (!(error instanceof ServiceError) || !isObject(error.detail)) return undefined;
  if (error.code === undefined || !Object.hasOwn(FAILURES, error.code)) return undefined;
  const { status, requestId } = error;
  return { ...(error.detail as unknown as DeliveryFailure), status, requestId };
};

/** What the service answers to a message. */
export interface ChatAnswer {
  readonly response?: string;
  readonly conversation_id?: string | null;
}

/** The result of a message that was answered. */
export const resultOf = (answer: ChatAnswer): ChatResult => ({
  response: answer.response ?? '',
  conversationId: answer.conversation_id ?? null,
});

/** The events of a streamed chat. An answer that is JSON is one `done`. */
export async function* chatEvents(answer: OpenAnswer, redact: Redact): AsyncGenerator<ChatEvent, void> {
  const { response } = answer;
  if (!answer.hasEvents) {
    const text = await answer.text();
    const value = parsed(text);
    if (!isObject(value)) throw invalidResponse(response, text, redact);
    yield { type: 'done', ...resultOf(value) };
    return;
  }
  const decoder = new EventDecoder();
  for await (const chunk of answer.chunks())
    for (const event of decoder.feed(chunk)) {
      const told = eventOf(event, response, redact);
      if (told === undefined) continue;
      yield told;
      if (told.type !== 'delta') return;
    }
  const message = 'The stream ended before the response was complete.';
  throw new ServiceConnectionError(message, 'connection_failed');
}

/** Undefined for an event that this version does not know. */
const eventOf = (
  { name, data }: ServerSentEvent,
  response: Response,
  redact: Redact,
): ChatEvent | undefined => {
  if (name !== 'delta' && name !== 'done' && name !== 'error') return undefined;
  const value = parsed(data);
  if (!isObject(value)) throw invalidResponse(response, data, redact);
  if (name === 'done') return { type: 'done', ...resultOf(value) };
  if (name === 'delta') return { type: 'delta', text: String(value['text'] ?? '') };
  const { detail = value } = value;
  const told = isObject(detail) ? detail : { message: String(detail) };
  const code = String(told['code'] ?? 'agent_error');
  const status = FAILURES[code];
  const known = {
    code,
    message: code,
    ...(status === undefined ? {} : { status }),
    requestId: requestIdOf(response),
  };
  return { type: 'error', error: { ...known, ...told } };
};
