import type { AgentUse } from '@berth/agent-client';
import type { DeliverAttachment } from '@berth/contracts/delivery';
import { deriveId } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AgentDispatcher, type Message } from './agent-dispatcher.js';
import { DeliveryCommandHandler } from './delivery.command-handler.js';
import { MessageAdmission } from './message-admission.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { SharedTimeout } from './shared-timeout.js';

/** No caller waits for the outcome, so a dependency that fails has time to recover. */
const WITHIN_MS = 10_000;

/** An attachment whose message is accepted. */
interface AcceptedAttachment {
  /** Resolves once the outcome is in the log, or the service has given up recording it. */
  readonly recorded: Promise<void>;
}

/** Announces attachments to agents: replies to the sender once the message is accepted, and delivers it after the reply. */
@Injectable()
export class AttachmentCommandHandler {
  /** By delivery id, until the outcome is in the log, where a repeated command finds it. */
  readonly #attempts = new Map<string, Promise<AcceptedAttachment>>();
  readonly #inFlight = new Set<Promise<unknown>>();
  /** By conversation: resolves once its last message was sent, so that the next one is sent after it. */
  readonly #sent = new Map<string, Promise<void>>();

  constructor(
    private readonly deliveries: DeliveryCommandHandler,
    private readonly admission: MessageAdmission,
    private readonly dispatcher: AgentDispatcher,
    private readonly outcomes: OutcomeRecorder,
    private readonly log: Logger,
  ) {}

  /**
   * A repeated command joins its first attempt while that attempt runs. If the first attempt ended after the message was
   * accepted and before it was delivered, the repeated command delivers it. Errors: see
   * `deliveryRequests.deliverAttachment`.
   */
  async handle(request: DeliverAttachment): Promise<{ readonly deliveryId: string }> {
    const deliveryId = deriveId('dlv', request.commandId);
    let current = this.#attempts.get(deliveryId);
    if (current === undefined) {
      current = this.#accept(request, deliveryId);
      this.#attempts.set(deliveryId, current);
      const forget = (): void => void this.#attempts.delete(deliveryId);
      current.then(({ recorded }) => recorded.then(forget), forget);
    }
    await current;
    return { deliveryId };
  }

  /** Waits for deliveries in progress, at most `withinMs`. */
  async settle(withinMs: number): Promise<void> {
    const ending = new AbortController();
    const late = pause(withinMs, ending.signal);
    await Promise.race([Promise.all(this.#inFlight), late]);
    ending.abort();
    if (this.#inFlight.size > 0)
      this.log.warn({ running: this.#inFlight.size }, 'stopping before all attachments were delivered');
  }

  async #accept(request: DeliverAttachment, deliveryId: string): Promise<AcceptedAttachment> {
    const { agentId, attachment } = request;
    const purpose: AgentUse = { envelope: request, agentId, kind: 'file' };
    const message = textOf(request);
    const conversationId = await this.admission.conversationOf(purpose);
    const outgoing = { deliveryId, agentId, conversationId, message };
    const { delivery, shown } = await this.deliveries.accept(request, { ...outgoing, kind: 'attachment' });
    if (delivery.status !== 'accepted') return { recorded: Promise.resolve() };
    const delivering = this.#deliver(purpose, {
      ...outgoing,
      conversationId: delivery.conversationId,
      attachments: [attachment],
    }).finally(() => this.#inFlight.delete(delivering));
    this.#inFlight.add(delivering);
    // A later message without a conversation continues the one that this message opened.
    if (conversationId === deriveId('cnv', request.commandId)) await shown;
    return { recorded: delivering.then(({ recorded }) => recorded) };
  }

  async #deliver(purpose: AgentUse, message: Message): Promise<AcceptedAttachment> {
    const { envelope } = purpose;
    const { deliveryId, agentId } = message;
    const timeout = new SharedTimeout(WITHIN_MS);
    const turn = this.#takeTurn(message);
    try {
      const awake = await this.admission.wakeWithinBudget(purpose, deliveryId, timeout);
      await turn.begins;
      const response = this.dispatcher.deliver(message, awake, purpose, timeout);
      turn.end();
      return { recorded: this.outcomes.answered(envelope, deliveryId, await response) };
    } catch (error) {
      this.log.info({ deliveryId, agentId, err: error }, 'an attachment could not be delivered');
      return { recorded: this.outcomes.failed(envelope, deliveryId, error) };
    } finally {
      turn.end();
    }
  }

  #takeTurn({ agentId, conversationId }: Message): {
    readonly begins: Promise<void>;
    readonly end: () => void;
  } {
    const conversation = `${agentId}/${conversationId}`;
    const begins = this.#sent.get(conversation) ?? Promise.resolve();
    const sent = Promise.withResolvers<void>();
    this.#sent.set(conversation, sent.promise);
    const end = (): void => {
      sent.resolve();
      if (this.#sent.get(conversation) === sent.promise) this.#sent.delete(conversation);
    };
    return { begins, end };
  }
}

const textOf = ({ message, attachment: { path } }: DeliverAttachment): string =>
  message === null || message === '' ? `A file was uploaded for you: ${path}` : message;
