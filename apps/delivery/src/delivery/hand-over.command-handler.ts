import type { AgentUse } from '@berth/agent-client';
import type { HandOver, HandOverOutcome } from '@berth/contracts/delivery';
import type { FoundDelivery } from '@berth/contracts/runtime';
import { DomainError, isDomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { AgentDispatcher } from './agent-dispatcher.js';
import { MessageAdmission } from './message-admission.js';
import { MessageJournal } from './message-journal.js';
import { SharedTimeout } from './shared-timeout.js';

/** No caller waits for the outcome, so a dependency that fails has time to recover. */
const WITHIN_MS = 10_000;

/** Errors of the message itself: the program took it, or can take none. */
const FINAL: ReadonlySet<string> = new Set([
  'agent_error',
  'agent_timeout',
  'chat_unsupported',
  'payload_too_large',
]);
const DECLINED = 'delivery_declined';
const UNKNOWN = 'delivery_outcome_unknown';

/** Hands over messages whose senders wait for no answer: webhooks and scheduled prompts. */
@Injectable()
export class HandOverCommandHandler {
  constructor(
    private readonly admission: MessageAdmission,
    private readonly dispatcher: AgentDispatcher,
    private readonly journal: MessageJournal,
  ) {}

  /** Errors: see `handOverRequests.handOver`. */
  async handle(request: HandOver): Promise<HandOverOutcome> {
    const timeout = new SharedTimeout(WITHIN_MS);
    const known = request.repeated === true ? await timeout.within(this.find(request)) : undefined;
    if (known?.state === 'answered') return { outcome: 'handed_over' };
    if (known?.state === 'failed') return { outcome: 'failed', code: known.code, message: known.message };
    try {
      await this.deliver(request, timeout);
      return { outcome: 'handed_over' };
    } catch (error) {
      if (!isDomainError(error)) throw error;
      const outcome = outcomeOfError(error);
      if (outcome !== undefined) return outcome;
      // The program got it and its agent does not run any more, so nothing will ever answer.
      if (known?.state === 'open' && error.kind === 'conflict') return neverAnswered();
      throw error;
    }
  }

  private async deliver(request: HandOver, timeout: SharedTimeout): Promise<void> {
    const { agentId, deliveryId, conversationId, message, source, contentType } = request;
    const use: AgentUse = { envelope: request, agentId, kind: source };
    const awake =
      request.counted === true
        ? await this.dispatcher.wake(use, null, timeout)
        : await this.admission.wakeWithinBudget(use, deliveryId, timeout);
    const outgoing = { deliveryId, agentId, conversationId, message, source };
    await this.dispatcher.deliver(
      contentType === undefined ? outgoing : { ...outgoing, contentType },
      awake,
      use,
      timeout,
    );
  }

  private find({ accountId, agentId, deliveryId }: HandOver): Promise<FoundDelivery> {
    return this.journal.find({ accountId, agentId, deliveryId });
  }
}

/** Undefined if the error leaves open whether a later attempt succeeds. */
const outcomeOfError = (error: DomainError): HandOverOutcome | undefined => {
  const { code, message } = causeOf(error);
  if (code === DECLINED) return { outcome: 'declined' };
  if (code === UNKNOWN) return neverAnswered();
  // A message that waited for its turn until its time was over was not handed over.
  if (!FINAL.has(code) || (code === 'agent_timeout' && error.effect === 'none')) return undefined;
  return { outcome: 'failed', code, message };
};

/** The dispatcher reports failures in terms of chats; the error of the host is their cause. */
const causeOf = (error: DomainError): DomainError =>
  isDomainError(error.cause) && (error.cause.code === DECLINED || error.cause.code === UNKNOWN)
    ? error.cause
    : error;

const neverAnswered = (): HandOverOutcome => ({
  outcome: 'failed',
  code: 'agent_error',
  message: 'The agent took the message and ended before it answered.',
});
