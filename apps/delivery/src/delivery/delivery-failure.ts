import { asFinal, DomainError, isDomainError, type ErrorKind } from '@berth/kernel';

/** Failures that concern the message itself: no other attempt can change them. */
const FINAL: ReadonlySet<string> = new Set([
  'agent_error',
  'chat_unsupported',
  'insufficient_credits',
  'payload_too_large',
  'spend_cap_reached',
]);

/** Whether another attempt of the command may have delivered the message, or may still do so. */
export const isOpenFailure = (code: string): boolean => !FINAL.has(code);

/**
 * The code under which the log keeps a failure. A message that waited for its turn until its time was over was not handed
 * over, unlike one that the program did not answer in time.
 */
export const loggedCode = (error: DomainError): string =>
  error.code === 'agent_timeout' && hadNoEffect(error) ? 'agent_unavailable' : error.code;

/** Errors for callers have the effect of all attempts; that of the guest, which knows, is among their causes. */
const hadNoEffect = (error: unknown): boolean =>
  isDomainError(error) && (error.effect === 'none' || hadNoEffect(error.cause));

const RECORDED: Readonly<Record<string, readonly [kind: ErrorKind, message: string]>> = {
  agent_deploying: ['conflict', 'The agent was deploying or starting; try again when it is running.'],
  agent_error: ['upstream', 'The agent failed to answer the message.'],
  agent_failed: ['conflict', 'The agent had failed. Start or restart it.'],
  agent_not_found: ['not_found', 'There is no such agent.'],
  agent_stopped: ['conflict', 'The agent was stopped; start it first.'],
  chat_unsupported: ['unsupported', 'This agent has no program that could answer.'],
  compute_cap_reached: ['payment_required', 'The compute cap was reached.'],
  end_user_suspended: ['forbidden', 'The end user was suspended.'],
  insufficient_credits: [
    'payment_required',
    'The credits of the account do not suffice for a call of the agent.',
  ],
  payload_too_large: ['too_large', 'The message was too large.'],
  rate_limited: ['exhausted', 'The agent got too many messages; try again later.'],
  spend_cap_reached: ['payment_required', 'The spend cap of the end user was reached.'],
};

/** The error for a failure in the log, which stores only its code. */
export const recordedFailure = (code: string): DomainError => {
  const [kind, message] = RECORDED[code] ?? ['unavailable', 'The message was not delivered. Send it again.'];
  return new DomainError(kind, code in RECORDED ? code : 'agent_unavailable', message);
};

/** The outcome of a message in the log: every attempt of its command gets it. */
export const recordedOutcome = (code: string): DomainError => asFinal(recordedFailure(code));

/** The agent may have the message. A retry with the same command id does not deliver it twice. */
export const mayHaveBeenDelivered = (cause?: unknown): DomainError => {
  const options = { cause, effect: 'unknown' } as const;
  if (isDomainError(cause, 'timeout'))
    return new DomainError('timeout', 'agent_timeout', 'The agent did not answer in time.', {}, options);
  const words =
    isDomainError(cause, 'unavailable') && cause.effect === 'unknown'
      ? cause.message
      : 'The agent cannot be reached. It may have the message: send it again only with the same Idempotency-Key.';
  return new DomainError('unavailable', 'agent_unavailable', words, {}, options);
};

/** The log records an answer that the agent's journal no longer has. */
export const answerGone = (): DomainError =>
  new DomainError(
    'conflict',
    'idempotency_answer_gone',
    'The message was answered before, and the answer is no longer kept. It is not delivered again.',
    {},
    { effect: 'unknown' },
  );
