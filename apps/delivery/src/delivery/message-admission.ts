import type { AgentUse } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { deriveId } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import { newAttempt } from './attempt.js';
import { AgentDispatcher } from './agent-dispatcher.js';
import { MessageBudget } from './message-budget.js';
import type { SharedTimeout } from './shared-timeout.js';

export interface Admitted {
  readonly awake: AwakeAgent;
  readonly conversationId: string;
}

/** Admits a message: checks that the agent can receive it, then takes it from the budget, and only then wakes the agent. */
@Injectable()
export class MessageAdmission {
  constructor(
    private readonly conversations: ConversationListQuery,
    private readonly dispatcher: AgentDispatcher,
    private readonly budget: MessageBudget,
  ) {}

  /**
   * A refusal because of the agent's state takes precedence over one because of its budget, and uses no budget. A message
   * beyond the budget wakes no agent. Errors: those of `AgentDispatcher.wake` and of `MessageBudget.take`.
   */
  async admit(
    use: AgentUse,
    deliveryId: string,
    conversationId: string | null,
    timeout: SharedTimeout,
  ): Promise<Admitted> {
    const purpose = { ...use, attempt: newAttempt() };
    const awake = await this.dispatcher.findAwake(purpose, timeout);
    const [conversation] = await timeout.within(
      Promise.all([
        conversationId ?? this.conversationOf(purpose),
        this.budget.take(purpose.agentId, deliveryId),
      ]),
    );
    return {
      awake: awake ?? (await this.dispatcher.wake(purpose, null, timeout)),
      conversationId: conversation,
    };
  }

  /** Returns the agent's current conversation, or a new one, whose id derives from the command's id. */
  async conversationOf({ agentId, envelope }: AgentUse): Promise<string> {
    return (await this.conversations.current(agentId)) ?? deriveId('cnv', envelope.commandId);
  }

  /** Like `admit`, for a message whose conversation is already known. */
  async wakeWithinBudget(use: AgentUse, deliveryId: string, timeout: SharedTimeout): Promise<AwakeAgent> {
    const purpose = { ...use, attempt: newAttempt() };
    const awake = await this.dispatcher.findAwake(purpose, timeout);
    await timeout.within(this.budget.take(purpose.agentId, deliveryId));
    return awake ?? this.dispatcher.wake(purpose, null, timeout);
  }
}
