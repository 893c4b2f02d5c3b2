import type { AgentUse } from '@berth/agent-client';
import type { Chat, ChatReply } from '@berth/contracts/delivery';
import { asFinal, asWithoutEffect, deriveId, detach, isDomainError } from '@berth/kernel';
import { requestContext } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AgentDispatcher } from './agent-dispatcher.js';
import { DeliveryCommandHandler, type Acceptance } from './delivery.command-handler.js';
import type { Delivery } from './delivery.js';
import { withEarlierAttempt, EarlierMessage } from './earlier-message.js';
import { MessageAdmission } from './message-admission.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { SharedTimeout } from './shared-timeout.js';

/** A caller gets a 503 within 5 s; this much of them is left when a chat arrives here. */
const WITHIN_MS = 4_000;

/** One chat in progress. */
interface IncomingChat {
  readonly chat: Chat;
  readonly deliveryId: string;
  readonly purpose: AgentUse;
  readonly timeout: SharedTimeout;
}

/** Handles chats: wakes the agent, delivers the message once and returns the agent's response. */
@Injectable()
export class ChatCommandHandler {
  /** By command id. */
  readonly #inProgress = new Map<string, Promise<ChatReply>>();

  constructor(
    private readonly deliveries: DeliveryCommandHandler,
    private readonly admission: MessageAdmission,
    private readonly dispatcher: AgentDispatcher,
    private readonly earlier: EarlierMessage,
    private readonly outcomes: OutcomeRecorder,
  ) {}

  /**
   * A copy of a request in progress joins it: the first response to any copy is what the caller gets, and one copy may fail
   * while another waits for the agent's answer. Errors: see `deliveryRequests.chat`.
   */
  handle(chat: Chat): Promise<ChatReply> {
    // A further attempt has a caller of its own, while the caller of the earlier one may have given up.
    if (chat.repeated === true) return this.attempt(chat);
    const { commandId } = chat;
    const current = this.#inProgress.get(commandId);
    if (current !== undefined) return current;
    const attempt = this.attempt(chat).finally(() => this.#inProgress.delete(commandId));
    this.#inProgress.set(commandId, attempt);
    return attempt;
  }

  private async attempt(chat: Chat): Promise<ChatReply> {
    const incoming: IncomingChat = {
      chat,
      deliveryId: deriveId('dlv', chat.commandId),
      purpose: { envelope: chat, agentId: chat.agentId, kind: 'chat' },
      timeout: new SharedTimeout(timeoutOf(chat)),
    };
    if (chat.repeated === true) {
      const existing = await incoming.timeout.within(this.deliveries.load(incoming.deliveryId));
      if (existing.status !== 'absent') return this.join(incoming, existing);
    }
    const admitted = await this.admission
      .admit(incoming.purpose, incoming.deliveryId, chat.conversationId, incoming.timeout)
      .catch((error: unknown) => this.acceptedByAnotherAttempt(incoming, error));
    if ('status' in admitted) return this.join(incoming, admitted);
    const { awake, conversationId } = admitted;
    const { agentId, message } = chat;
    const { deliveryId, timeout } = incoming;
    const accepted = await timeout.within(
      this.deliveries.accept(chat, { deliveryId, agentId, conversationId, kind: 'chat', message }),
    );
    if (accepted.repeated || accepted.delivery.status !== 'accepted')
      return this.join(incoming, accepted.delivery);
    return this.deliver(incoming, awake, accepted, conversationId);
  }

  private async deliver(
    { chat, deliveryId, purpose, timeout }: IncomingChat,
    awake: Parameters<AgentDispatcher['deliver']>[1],
    { shown }: Acceptance,
    conversationId: string,
  ): Promise<ChatReply> {
    const { agentId, message } = chat;
    const outgoing = { deliveryId, agentId, conversationId, message };
    try {
      const response = await this.dispatcher.deliver(outgoing, awake, purpose, timeout);
      detach(this.outcomes.answered(chat, deliveryId, response));
      // The caller's next message without a conversation continues this one, on any instance.
      await shown;
      return { response, conversationId };
    } catch (error) {
      // The earlier attempt may still be in progress, and deliver the message after this one.
      const reported = chat.repeated === true ? withEarlierAttempt(error) : error;
      detach(this.outcomes.failed(chat, deliveryId, reported));
      throw reported;
    }
  }

  private async join(
    { chat, deliveryId, timeout }: IncomingChat,
    delivery: Exclude<Delivery, { readonly status: 'absent' }>,
  ): Promise<ChatReply> {
    const { agentId, message } = chat;
    const repeated = { envelope: chat, kind: 'chat', message: { deliveryId, agentId, message } } as const;
    const response = await this.earlier.join(repeated, delivery, timeout);
    return { response, conversationId: 'conversationId' in delivery ? delivery.conversationId : '' };
  }

  /** Returns the message if another attempt of the command was accepted; otherwise throws `error`. */
  private async acceptedByAnotherAttempt(
    { chat, deliveryId, timeout }: IncomingChat,
    error: unknown,
  ): Promise<Exclude<Delivery, { readonly status: 'absent' | 'refused' }>> {
    if (!isDomainError(error) || error.code === 'service_unavailable' || error.kind === 'internal')
      throw error;
    const { agentId, repeated } = chat;
    const { code } = error;
    // Another attempt may still be in progress: it finds the refusal in the log.
    const existing = await timeout.within(
      repeated === true
        ? this.deliveries.refuse(chat, { deliveryId, agentId, code })
        : this.deliveries.load(deliveryId).catch(() => ({ status: 'absent' }) as const),
    );
    if (existing.status === 'refused') throw asFinal(error);
    if (existing.status === 'absent') throw asWithoutEffect(error);
    return existing;
  }
}

/** Time that the caller has already waited for a lost or delayed request counts toward the same 5 s. */
const timeoutOf = ({ withinMs }: Chat): number =>
  Math.min((withinMs ?? WITHIN_MS) - (requestContext.current()?.caller?.waitedMs ?? 0), WITHIN_MS);
