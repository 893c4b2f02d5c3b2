import { agentsEvents, type AgentLifecycleEvent } from '@berth/contracts/agents';
import type { ReceivedEvent } from '@berth/messaging';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { RecipientStreams } from '../recipient/recipient.streams.js';

/** Forgets the conversations of a deleted agent. */
@ConsumeEvents({
  context: 'agents',
  durable: 'delivery__forget-conversations',
  events: [agentsEvents.deleted],
})
@Injectable()
export class ForgetConversationsWhenAgentIsGone implements EventReaction<AgentLifecycleEvent> {
  constructor(private readonly recipients: RecipientStreams) {}

  /** The command's id is the event's, so a second delivery of the event changes nothing. */
  async handle({ id: commandId, payload }: ReceivedEvent<AgentLifecycleEvent>): Promise<void> {
    const { agentId, accountId, at } = payload;
    const origin = { commandId, accountId, actor: { kind: 'system', id: 'delivery' } } as const;
    await this.recipients.handle(agentId, { type: 'Forget', agentId, at }, origin);
  }
}
