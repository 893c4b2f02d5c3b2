import { DomainError } from '@berth/kernel';
import { GUEST_LIMITS, type ProgramAnswer } from '@berth/guest-protocol';

/** Reads what the agent's program answered to a chat: `{response}`. Errors: upstream `agent_error`. */
export const readAnswer = (text: string): ProgramAnswer => {
  const answer = parse(text);
  if (answer === undefined) throw refuse('The answer of the agent is not JSON.');
  const response = field(answer, 'response');
  if (typeof response !== 'string') throw refuse('The answer of the agent has no text "response".');
  return { response };
};

/** The words of an answer with an error status: its `error`, `message` or `detail`, else the text itself. */
export const readFailure = (status: number, text: string): string => {
  const message = words(parse(text)) ?? text.trim();
  return message === ''
    ? `The agent answered with status ${status}.`
    : message.slice(0, GUEST_LIMITS.errorMessageChars);
};

const words = (body: unknown): string | undefined => {
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

const refuse = (message: string): DomainError =>
  new DomainError('upstream', 'agent_error', message, { handedOver: true });
