import type { Chat, ChatReply } from '@berth/contracts-delivery';
import type { CommandHandler, ProjectionRunner } from '@berth/event-store';
import { isDomainError, newId } from '@berth/kernel';
import type { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import type { DeliveryCommand } from './delivery.decider.js';
import type { Delivery, DeliveryEvent } from './delivery.js';
import type { HandOver } from './hand-over.js';
import type { MessageBudget } from './message-budget.js';

/** A chat: wakes the agent, hands the message over once, answers what the agent answers. */
export class ChatCommandHandler {
  constructor(
    private readonly deliveries: CommandHandler<Delivery, DeliveryCommand, DeliveryEvent>,
    private readonly conversations: ConversationListQuery,
    private readonly conversationList: ProjectionRunner,
    private readonly handOver: HandOver,
    private readonly budget: MessageBudget,
  ) {}

  /** Errors: see `deliveryRequests.chat`. */
  async handle(chat: Chat): Promise<ChatReply> {
    const agent = await this.handOver.wake(chat, chat.agentId, 'chat', null);
    await this.budget.take(chat.agentId);
    const deliveryId = newId('dlv');
    const conversationId =
      chat.conversationId ?? (await this.conversations.current(chat.agentId)) ?? newId('cnv');
    const { shown } = await this.accept(chat, deliveryId, conversationId);
    try {
      const response = await this.handOver.deliver(
        { deliveryId, agentId: chat.agentId, conversationId, message: chat.message },
        agent,
        chat,
      );
      await this.end(chat, deliveryId, { type: 'Answer', responseLength: response.length, at: now() });
      // The caller's next message without a conversation goes on in this one, on any instance.
      await shown;
      return { response, conversationId };
    } catch (error) {
      const code = isDomainError(error) ? error.code : 'internal_error';
      await this.end(chat, deliveryId, { type: 'Fail', code, at: now() });
      throw error;
    }
  }

  /** Answers what resolves once the list shows the message; the agent need not wait for that. */
  private async accept(
    chat: Chat,
    deliveryId: string,
    conversationId: string,
  ): Promise<{ readonly shown: Promise<boolean> }> {
    const { agentId, message } = chat;
    const command = {
      type: 'Accept',
      deliveryId,
      agentId,
      conversationId,
      kind: 'chat',
      messageLength: message.length,
      at: now(),
    } as const;
    const { position } = await this.deliveries.handle(deliveryId, command, chat);
    const shown = position === null ? Promise.resolve(true) : this.conversationList.waitFor(position);
    // Past two seconds the caller is answered anyway, and so when the tables are away.
    return { shown: shown.catch(() => false) };
  }

  private async end(chat: Chat, deliveryId: string, command: DeliveryCommand): Promise<void> {
    await this.deliveries.handle(deliveryId, command, { ...chat, commandId: `${chat.commandId}/end` });
  }
}

const now = (): string => new Date().toISOString();
