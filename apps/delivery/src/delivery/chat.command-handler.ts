import type { AgentUse } from '@berth/agent-client';
import type { Chat, ChatReply } from '@berth/contracts/delivery';
import { deriveId, isDomainError } from '@berth/kernel';
import { requestContext } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AgentDispatcher } from './agent-dispatcher.js';
import { DeliveryCommandHandler, type Acceptance } from './delivery.command-handler.js';
import type { Delivery } from './delivery.js';
import { withEarlierTry, EarlierMessage } from './earlier-message.js';
import { MessageAdmission } from './message-admission.js';
import { OutcomeNotes } from './outcome-notes.js';
import { Patience } from './patience.js';

/** What is left of the 5 s of contract §1 when a chat arrives here. */
const WITHIN_MS = 4_000;

/** One chat on its way. */
interface Coming {
  readonly chat: Chat;
  readonly deliveryId: string;
  readonly purpose: AgentUse;
  readonly patience: Patience;
}

/** A chat: wakes the agent, hands the message over once, returns the agent's response. */
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
    const coming: Coming = {
      chat,
      deliveryId: deriveId('dlv', chat.commandId),
      purpose: { envelope: chat, agentId: chat.agentId, kind: 'chat' },
      patience: new Patience(patienceWith(chat)),
    };
    if (chat.repeated === true) {
      const known = await coming.patience.within(this.deliveries.load(coming.deliveryId));
      if (known.status !== 'absent') return this.join(coming, known);
    }
    const admitted = await this.admission
      .admit(coming.purpose, coming.deliveryId, chat.conversationId, coming.patience)
      .catch((error: unknown) => this.unlessKnown(coming, error));
    if ('status' in admitted) return this.join(coming, admitted);
    const { awake, conversationId } = admitted;
    const { agentId, message } = chat;
    const { deliveryId, patience } = coming;
    const accepted = await patience.within(
      this.deliveries.accept(chat, { deliveryId, agentId, conversationId, kind: 'chat', message }),
    );
    if (accepted.repeated || accepted.delivery.status !== 'accepted')
      return this.join(coming, accepted.delivery);
    return this.deliver(coming, awake, accepted, conversationId);
  }

  private async deliver(
    { chat, deliveryId, purpose, patience }: Coming,
    awake: Parameters<AgentDispatcher['deliver']>[1],
    { shown }: Acceptance,
    conversationId: string,
  ): Promise<ChatReply> {
    const { agentId, message } = chat;
    const handed = { deliveryId, agentId, conversationId, message };
    try {
      const response = await this.dispatcher.deliver(handed, awake, purpose, patience);
      void this.notes.answered(chat, deliveryId, response);
      // The caller's next message without a conversation goes on in this one, on any instance.
      await shown;
      return { response, conversationId };
    } catch (error) {
      // The earlier try may be on its way still, and hand the message over after this one.
      const told = chat.repeated === true ? withEarlierTry(error) : error;
      void this.notes.failed(chat, deliveryId, told);
      throw told;
    }
  }

  private async join(
    { chat, deliveryId, patience }: Coming,
    delivery: Exclude<Delivery, { readonly status: 'absent' }>,
  ): Promise<ChatReply> {
    const { agentId, message } = chat;
    const repeated = { envelope: chat, kind: 'chat', message: { deliveryId, agentId, message } } as const;
    const response = await this.earlier.join(repeated, delivery, patience);
    return { response, conversationId: 'conversationId' in delivery ? delivery.conversationId : '' };
  }

  /** The message that another try of the command had accepted; else the refusal stands, and is thrown. */
  private async unlessKnown(
    { chat, deliveryId, patience }: Coming,
    error: unknown,
  ): Promise<Exclude<Delivery, { readonly status: 'absent' | 'refused' }>> {
    if (!isDomainError(error) || error.code === 'service_unavailable' || error.kind === 'internal')
      throw error;
    const { agentId, repeated } = chat;
    const { code } = error;
    // Another try may be on its way still: it finds the refusal in the log.
    const known = await patience.within(
      repeated === true
        ? this.deliveries.refuse(chat, { deliveryId, agentId, code })
        : this.deliveries.load(deliveryId).catch(() => ({ status: 'absent' }) as const),
    );
    if (known.status === 'absent' || known.status === 'refused') throw error;
    return known;
  }
}

/** What the caller has waited already, for a request that was lost or held on its way, is part of the same 5 s. */
const patienceWith = ({ withinMs }: Chat): number =>
  Math.min((withinMs ?? WITHIN_MS) - (requestContext.current()?.caller?.waitedMs ?? 0), WITHIN_MS);
