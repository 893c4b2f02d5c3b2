import { CommandHandler, type EventStore } from '@berth/event-store';
import type { ReceivedEvent } from '@berth/messaging';
import {
  recipientCodec,
  recipientDecider,
  type Recipient,
  type RecipientCommand,
  type RecipientEvent,
} from '../recipient/recipient.js';

/** `evt.agents.deleted`: conversations of an agent that is gone are forgotten with it. */
export class ForgetConversationsWhenAgentIsGone {
  private readonly recipients: CommandHandler<Recipient, RecipientCommand, RecipientEvent>;

  constructor(store: EventStore) {
    this.recipients = new CommandHandler({
      store,
      decider: recipientDecider,
      codec: recipientCodec,
      cacheSize: 100,
    });
  }

  /** The command's id is the event's, so that a second delivery of it changes nothing. */
  async handle({ id: commandId, payload }: ReceivedEvent): Promise<void> {
    const { agentId, accountId, at } = payload;
    if (typeof agentId !== 'string' || typeof accountId !== 'string' || typeof at !== 'string') {
      throw new Error('The event names no agent.');
    }
    const origin = { commandId, accountId, actor: { kind: 'system', id: 'delivery' } } as const;
    await this.recipients.handle(agentId, { type: 'Forget', agentId, at }, origin);
  }
}
