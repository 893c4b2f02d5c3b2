import type { ActivityKind } from '@berth/contracts/hosting';
import type { FoundDelivery } from '@berth/contracts/runtime';
import {
  asFinal,
  detach,
  DomainError,
  isDomainError,
  type CommandEnvelope,
  type ErrorKind,
} from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { AgentDispatcher, type Message } from './agent-dispatcher.js';
import { answerGone, isOpenFailure, mayHaveBeenDelivered, recordedOutcome } from './delivery-failure.js';
import type { Accepted, Delivery } from './delivery.js';
import { MessageJournal } from './message-journal.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import type { SharedTimeout } from './shared-timeout.js';

/**
 * A message may be delivered again only within this time after acceptance. A guest forgets very old deliveries,
 * so it could not detect the repetition.
 */
const HAND_OVER_WITHIN_MS = 900_000;

/** The parts of a repeated command; `message` lacks only the conversation. */
export interface Repeated {
  readonly envelope: CommandEnvelope;
  readonly kind: ActivityKind;
  readonly message: Omit<Message, 'conversationId'>;
}

/**
 * Messages that an earlier attempt of the same command accepted: each is delivered once, whatever the outcome of that
 * attempt.
 */
@Injectable()
export class EarlierMessage {
  constructor(
    private readonly dispatcher: AgentDispatcher,
    private readonly journal: MessageJournal,
    private readonly outcomes: OutcomeRecorder,
  ) {}

  /**
   * Returns the agent's answer to the earlier attempt or to this one. Errors: the outcome of the earlier attempt, and those of
   * `AgentDispatcher`.
   */
  async join(
    repeated: Repeated,
    delivery: Exclude<Delivery, { readonly status: 'absent' }>,
    timeout: SharedTimeout,
  ): Promise<string> {
    if (delivery.status === 'refused') throw recordedOutcome(delivery.code);
    if (delivery.status === 'answered') return this.keptAnswer(repeated, timeout);
    if (delivery.status === 'failed' && !isOpenFailure(delivery.code))
      throw await this.sameFailure(repeated, delivery.code, timeout);
    if (isOver(delivery)) return this.conclude(repeated, delivery, recordedOutcome('delivery_lost'), timeout);
    return this.dispatchAgain(repeated, delivery, timeout);
  }

  private async keptAnswer(repeated: Repeated, timeout: SharedTimeout): Promise<string> {
    const found = await timeout.within(this.find(repeated));
    if (found.state === 'answered') return found.response;
    throw answerGone();
  }

  /** Only the journal of the agent has the error message. */
  private async sameFailure(repeated: Repeated, code: string, timeout: SharedTimeout): Promise<DomainError> {
    if (code !== 'agent_error') return recordedOutcome(code);
    const found = await timeout.within(this.find(repeated)).catch(() => undefined);
    return found?.state === 'failed' ? errorOf(found) : recordedOutcome(code);
  }

  /** The guest recognises a delivery that it already has: this joins the earlier attempt, or replaces it. */
  private async dispatchAgain(
    repeated: Repeated,
    delivery: Accepted,
    timeout: SharedTimeout,
  ): Promise<string> {
    const { envelope, kind, message } = repeated;
    const { conversationId } = delivery;
    const purpose = { envelope, kind, agentId: message.agentId };
    const awake = await this.dispatcher
      .findAwake(purpose, timeout)
      .then((agent) => agent ?? this.dispatcher.wake(purpose, null, timeout))
      .catch((error: unknown) => asError(error));
    if (awake instanceof Error) return this.conclude(repeated, delivery, awake, timeout);
    try {
      const response = await this.dispatcher.deliver({ ...message, conversationId }, awake, purpose, timeout);
      detach(this.outcomes.answered(envelope, message.deliveryId, response));
      return response;
    } catch (error) {
      const reported = withEarlierAttempt(error);
      detach(this.outcomes.failed(envelope, message.deliveryId, reported));
      throw reported;
    }
  }

  /** The message cannot be delivered now: returns the outcome in the agent's journal, or else an unknown outcome. */
  private async conclude(
    repeated: Repeated,
    delivery: Accepted,
    cause: Error,
    timeout: SharedTimeout,
  ): Promise<string> {
    const { envelope, message } = repeated;
    const found = await timeout.within(this.find(repeated)).catch(() => undefined);
    if (found?.state === 'answered') {
      detach(this.outcomes.answered(envelope, message.deliveryId, found.response));
      return found.response;
    }
    if (found?.state === 'failed') {
      detach(this.outcomes.failed(envelope, message.deliveryId, errorOf(found)));
      throw errorOf(found);
    }
    const neverDelivered = found?.state === 'absent' && isOver(delivery);
    throw neverDelivered || isDomainError(cause, 'not_found') ? cause : mayHaveBeenDelivered(cause);
  }

  private find({ envelope, message }: Repeated): Promise<FoundDelivery> {
    const { agentId, deliveryId } = message;
    return this.journal.find({ accountId: envelope.accountId, agentId, deliveryId });
  }
}

/** Whether every attempt of its command has ended. */
const isOver = ({ acceptedAt }: Accepted): boolean =>
  Date.now() - Date.parse(acceptedAt) > HAND_OVER_WITHIN_MS;

/**
 * An earlier attempt may have delivered the message, so only an error of the message or of the agent itself is its outcome.
 * Every other error becomes an unknown outcome.
 */
export const withEarlierAttempt = (error: unknown): unknown => {
  if (!isDomainError(error)) return error;
  if (TRANSIENT_KINDS.has(error.kind)) return mayHaveBeenDelivered(error);
  return isOpenFailure(error.code) ? error : asFinal(error);
};

const TRANSIENT_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['conflict', 'timeout', 'unavailable']);

const errorOf = ({ kind, code, message }: FoundDelivery & { readonly state: 'failed' }): DomainError =>
  new DomainError(kind, code, message, {}, { effect: isOpenFailure(code) ? 'unknown' : 'final' });

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
