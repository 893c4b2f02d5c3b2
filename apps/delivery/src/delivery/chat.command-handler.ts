import type { Chat, ChatReply } from '@berth/contracts-delivery';
import { newId } from '@berth/kernel';
import type { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import type { DeliveryCommandHandler } from './delivery.command-handler.js';
import type { HandOver } from './hand-over.js';
import type { MessageBudget } from './message-budget.js';

/** A chat: wakes the agent, hands the message over once, answers what the agent answers. */
export class ChatCommandHandler {
  constructor(
    private readonly deliveries: DeliveryCommandHandler,
    private readonly conversations: ConversationListQuery,
    private readonly handOver: HandOver,
    private readonly budget: MessageBudget,
  ) {}

  /** Errors: see `deliveryRequests.chat`. */
  async handle(chat: Chat): Promise<ChatReply> {
    const { agentId, message } = chat;
    const agent = await this.handOver.wake(chat, agentId, 'chat', null);
    const [current] = await Promise.all([
      chat.conversationId ?? this.conversations.current(agentId),
      this.budget.take(agentId),
    ]);
    const deliveryId = newId('dlv');
    const conversationId = current ?? newId('cnv');
    const accepted = { deliveryId, agentId, conversationId, kind: 'chat', message } as const;
    const { shown } = await this.deliveries.accept(chat, accepted);
    try {
      const handed = { deliveryId, agentId, conversationId, message };
      const response = await this.handOver.deliver(handed, agent, chat, 'chat');
      await this.deliveries.answered(chat, deliveryId, response);
      // The caller's next message without a conversation goes on in this one, on any instance.
      await shown;
      return { response, conversationId };
    } catch (error) {
      await this.deliveries.failed(chat, deliveryId, error);
      throw error;
    }
  }
}
