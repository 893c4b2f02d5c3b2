import type { AgentLifecycleEvent } from '@berth/contracts-agents';
import { CommandHandler, type EventStore } from '@berth/event-store';
import { recipientCodec, recipientDecider, type Recipient, type RecipientCommand, type RecipientEvent } from '../recipient/recipient.js';

/** `evt.agents.deleted`: conversations of an agent that is gone are forgotten with it. */
export class ForgetConversationsWhenAgentIsGone {
  private readonly recipients: CommandHandler<Recipient, RecipientCommand, RecipientEvent>;

  constructor(store: EventStore) {
    this.recipients = new CommandHandler({ store, decider: recipientDecider, codec: recipientCodec, cacheSize: 100 });
  }

  /** The command's id follows from the event, so that a second delivery of it changes nothing. */
  async handle(eventId: string, { agentId, accountId, at }: AgentLifecycleEvent): Promise<void> {
    await this.recipients.handle(
      agentId,
      { type: 'Forget', agentId, at },
      { commandId: eventId, accountId, actor: { kind: 'system', id: 'delivery' } },
    );
  }
}
