import type { DeliveryOutcome, ProgramAnswer } from '@berth/guest-protocol';
import { DomainError } from '@berth/kernel';

/** What a message met that never reached the program: it may be sent again. */
export const notHandedOver = (message: string): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', message, { handedOver: false });

/** What is left to say about a message that was handed over and whose answer is not known. */
export const outcomeUnknown = (): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The message was handed to the agent earlier; what it answered is not known. It is not handed over again.',
    { handedOver: true },
  );

/** Turns a recorded outcome back into what the first caller got. */
export const replay = (outcome: DeliveryOutcome): ProgramAnswer => {
  if (outcome.type === 'answered') return { response: outcome.response };
  throw new DomainError(outcome.kind, outcome.code, outcome.message, { handedOver: true });
};
