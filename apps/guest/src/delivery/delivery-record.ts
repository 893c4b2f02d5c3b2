import { DomainError, type ErrorKind } from '@berth/kernel';
import type { ProgramAnswer } from '@berth/guest-protocol';

/** How a message that was handed over ended. */
export type Outcome =
  | { readonly type: 'answered'; readonly response: string }
  | { readonly type: 'failed'; readonly kind: ErrorKind; readonly code: string; readonly message: string };

/** One line of the journal. `released`: the program was not there, the message may be handed over later. */
export interface DeliveryRecord {
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly step: 'handed' | 'released' | 'ended';
  readonly outcome?: Outcome;
}

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
export const replay = (outcome: Outcome): ProgramAnswer => {
  if (outcome.type === 'answered') return { response: outcome.response };
  throw new DomainError(outcome.kind, outcome.code, outcome.message, { handedOver: true });
};

/** Reads one line of the journal; undefined for a torn one. */
export const parseRecord = (line: string): DeliveryRecord | undefined => {
  try {
    const record = JSON.parse(line) as DeliveryRecord;
    return typeof record.id === 'string' && typeof record.at === 'number' && typeof record.step === 'string'
      ? record
      : undefined;
  } catch {
    return undefined;
  }
};
