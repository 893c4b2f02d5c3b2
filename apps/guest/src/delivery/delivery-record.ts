import {
  DELIVERY_ABANDONED_CODE,
  DELIVERY_DECLINED_CODE,
  DELIVERY_UNKNOWN_CODE,
  type DeliveryOutcome,
  type ProgramResponse,
} from '@berth/guest-protocol';
import { DomainError } from '@berth/kernel';

/** The error of a message that never reached the program: it may be sent again. */
export const notHandedOver = (message: string): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', message, {}, { effect: 'none' });

/** The error of a message that was abandoned before its turn came. */
export const abandoned = (): DomainError =>
  new DomainError(
    'unavailable',
    DELIVERY_ABANDONED_CODE,
    'The message was not handed to the agent, because its sender no longer waited.',
    {},
    { effect: 'none' },
  );

/** The error of a message that the program has declined. */
export const declined = (status: number): DomainError =>
  new DomainError(
    'unavailable',
    DELIVERY_DECLINED_CODE,
    `The agent declined the message with status ${String(status)}.`,
    {},
    { effect: 'none' },
  );

/** The error of a message that was handed over and whose response is unknown. */
export const outcomeUnknown = (): DomainError =>
  new DomainError(
    'unavailable',
    DELIVERY_UNKNOWN_CODE,
    'The message was handed to the agent earlier; its response is not known. It is not handed over again.',
    {},
    { effect: 'unknown' },
  );

/** Returns or throws a recorded outcome, as the first caller got it. */
export const replay = (outcome: DeliveryOutcome): ProgramResponse => {
  if (outcome.type === 'answered') return { response: outcome.response };
  throw new DomainError(outcome.kind, outcome.code, outcome.message);
};
