import { DomainError } from '@berth/kernel';
import { GUEST_LIMITS, type ProgramResponse } from '@berth/guest-protocol';

/** Parses the response of the agent's program to a chat: `{response}`. Errors: upstream `agent_error`. */
export const parseReply = (text: string): ProgramResponse => {
  const body = parse(text);
  if (body === undefined) throw refuse('The response of the agent is not JSON.');
  const response = field(body, 'response');
  if (typeof response !== 'string') throw refuse('The response of the agent has no text "response".');
  return { response };
};

/** The message in an error response: its `error`, `message` or `detail` field, otherwise the whole text. */
export const readFailure = (status: number, text: string): string => {
  const message = messageIn(parse(text)) ?? text.trim();
  return message === ''
    ? `The agent responded with status ${status}.`
    : message.slice(0, GUEST_LIMITS.errorMessageChars);
};

const messageIn = (body: unknown): string | undefined => {
  if (typeof body === 'string') return body;
  for (const name of ['error', 'message', 'detail']) {
    const value = field(body, name);
    if (typeof value === 'string' && value !== '') return value;
    const inner = field(value, 'message');
    if (typeof inner === 'string' && inner !== '') return inner;
  }
  return undefined;
};

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const refuse = (message: string): DomainError => new DomainError('upstream', 'agent_error', message);
