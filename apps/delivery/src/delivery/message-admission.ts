import type { AgentUse } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/agents';
import { deriveId } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import { AgentDispatcher } from './agent-dispatcher.js';
import { MessageBudget } from './message-budget.js';
import type { Patience } from './patience.js';

export interface Admitted {
  readonly awake: AwakeAgent;
  readonly conversationId: string;
}

/** What comes before a message is taken: whether the agent takes any, its budget, and only then its wake. */
@Injectable()
export class MessageAdmission {
  constructor(
    private readonly conversations: ConversationListQuery,
    private readonly dispatcher: AgentDispatcher,
    private readonly budget: MessageBudget,
  ) {}

  /**
   * A refusal by the agent's state comes before one by its budget and costs no budget; a message beyond the budget
   * wakes no agent. Errors: those of `AgentDispatcher.wake` and of `MessageBudget.take`.
   */
  async admit(
    purpose: AgentUse,
    deliveryId: string,
    conversationId: string | null,
    patience: Patience,
  ): Promise<Admitted> {
    const awake = await this.dispatcher.findAwake(purpose, patience);
    const [conversation] = await patience.within(
      Promise.all([
        conversationId ?? this.conversationOf(purpose),
        this.budget.take(purpose.agentId, deliveryId),
      ]),
    );
    return {
      awake: awake ?? (await this.dispatcher.wake(purpose, null, patience)),
      conversationId: conversation,
    };
  }

  /** The agent's current conversation, or a new one whose id follows from the command's. */
  async conversationOf({ agentId, envelope }: AgentUse): Promise<string> {
    return (await this.conversations.current(agentId)) ?? deriveId('cnv', envelope.commandId);
  }

  /** As `admit`, for a message that has its conversation. */
  async wakeWithinBudget(purpose: AgentUse, deliveryId: string, patience: Patience): Promise<AwakeAgent> {
    const awake = await this.dispatcher.findAwake(purpose, patience);
    await patience.within(this.budget.take(purpose.agentId, deliveryId));
    return awake ?? this.dispatcher.wake(purpose, null, patience);
  }
}
