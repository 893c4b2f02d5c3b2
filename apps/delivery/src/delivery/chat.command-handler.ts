import type { AgentUse } from '@berth/agent-client';
import type { Chat, ChatReply } from '@berth/contracts/delivery';
import { deriveId, isDomainError } from '@berth/kernel';
import { requestContext } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AgentDispatcher } from './agent-dispatcher.js';
import { DeliveryCommandHandler, type Acceptance } from './delivery.command-handler.js';
import type { Delivery } from './delivery.js';
import { withEarlierAttempt, EarlierMessage } from './earlier-message.js';
import { MessageAdmission } from './message-admission.js';
import { OutcomeNotes } from './outcome-notes.js';
import { Patience } from './patience.js';

/** The part of the 5 s for a 503 that remains when a chat arrives here. */
const WITHIN_MS = 4_000;

/** One chat in progress. */
interface IncomingChat {
  readonly chat: Chat;
  readonly deliveryId: string;
  readonly purpose: AgentUse;
  readonly patience: Patience;
}

/** A chat: wakes the agent, delivers the message once, returns the agent's response. */
@Injectable()
export class ChatCommandHandler {
  constructor(
    private readonly deliveries: DeliveryCommandHandler,
    private readonly admission: MessageAdmission,
    private readonly dispatcher: AgentDispatcher,
    private readonly earlier: EarlierMessage,
    private readonly notes: OutcomeNotes,
  ) {}

  /** Errors: see `deliveryRequests.chat`. */
  async handle(chat: Chat): Promise<ChatReply> {
    const incoming: IncomingChat = {
      chat,
      deliveryId: deriveId('dlv', chat.commandId),
      purpose: { envelope: chat, agentId: chat.agentId, kind: 'chat' },
      patience: new Patience(patienceWith(chat)),
    };
    if (chat.repeated === true) {
      const existing = await incoming.patience.within(this.deliveries.load(incoming.deliveryId));
      if (existing.status !== 'absent') return this.join(incoming, existing);
    }
    const admitted = await this.admission
      .admit(incoming.purpose, incoming.deliveryId, chat.conversationId, incoming.patience)
      .catch((error: unknown) => this.acceptedByAnotherAttempt(incoming, error));
    if ('status' in admitted) return this.join(incoming, admitted);
    const { awake, conversationId } = admitted;
    const { agentId, message } = chat;
    const { deliveryId, patience } = incoming;
    const accepted = await patience.within(
      this.deliveries.accept(chat, { deliveryId, agentId, conversationId, kind: 'chat', message }),
    );
    if (accepted.repeated || accepted.delivery.status !== 'accepted')
      return this.join(incoming, accepted.delivery);
    return this.deliver(incoming, awake, accepted, conversationId);
  }

  private async deliver(
    { chat, deliveryId, purpose, patience }: IncomingChat,
    awake: Parameters<AgentDispatcher['deliver']>[1],
    { shown }: Acceptance,
    conversationId: string,
  ): Promise<ChatReply> {
    const { agentId, message } = chat;
    const outgoing = { deliveryId, agentId, conversationId, message };
    try {
      const response = await this.dispatcher.deliver(outgoing, awake, purpose, patience);
      void this.notes.answered(chat, deliveryId, response);
      // The caller's next message without a conversation continues this one, on any instance.
      await shown;
      return { response, conversationId };
    } catch (error) {
      // The earlier attempt may still be in progress, and deliver the message after this one.
      const reported = chat.repeated === true ? withEarlierAttempt(error) : error;
      void this.notes.failed(chat, deliveryId, reported);
      throw reported;
    }
  }

  private async join(
    { chat, deliveryId, patience }: IncomingChat,
    delivery: Exclude<Delivery, { readonly status: 'absent' }>,
  ): Promise<ChatReply> {
    const { agentId, message } = chat;
    const repeated = { envelope: chat, kind: 'chat', message: { deliveryId, agentId, message } } as const;
    const response = await this.earlier.join(repeated, delivery, patience);
    return { response, conversationId: 'conversationId' in delivery ? delivery.conversationId : '' };
  }

  /** The message that another attempt of the command had accepted; otherwise throws the refusal. */
  private async acceptedByAnotherAttempt(
    { chat, deliveryId, patience }: IncomingChat,
    error: unknown,
  ): Promise<Exclude<Delivery, { readonly status: 'absent' | 'refused' }>> {
    if (!isDomainError(error) || error.code === 'service_unavailable' || error.kind === 'internal')
      throw error;
    const { agentId, repeated } = chat;
    const { code } = error;
    // Another attempt may still be in progress: it finds the refusal in the log.
    const existing = await patience.within(
      repeated === true
        ? this.deliveries.refuse(chat, { deliveryId, agentId, code })
        : this.deliveries.load(deliveryId).catch(() => ({ status: 'absent' }) as const),
    );
    if (existing.status === 'absent' || existing.status === 'refused') throw error;
    return existing;
  }
}

/** Time that the caller has already waited for a lost or delayed request counts toward the same 5 s. */
const patienceWith = ({ withinMs }: Chat): number =>
  Math.min((withinMs ?? WITHIN_MS) - (requestContext.current()?.caller?.waitedMs ?? 0), WITHIN_MS);
