import type { ReceivedEvent } from '@berth/messaging';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { RecipientStreams } from '../recipient/recipient.streams.js';

/** Forgets the conversations of a deleted agent. */
@ConsumeEvents({
  context: 'agents',
  durable: 'delivery__forget-conversations',
  filterSubjects: ['evt.agents.deleted.v1.>'],
})
@Injectable()
export class ForgetConversationsWhenAgentIsGone implements EventReaction {
  constructor(private readonly recipients: RecipientStreams) {}

  /** The command's id is the event's, so a second delivery of the event changes nothing. */
  async handle({ id: commandId, payload }: ReceivedEvent): Promise<void> {
    const { agentId, accountId, at } = payload;
    if (typeof agentId !== 'string' || typeof accountId !== 'string' || typeof at !== 'string') {
      throw new Error('The event names no agent.');
    }
    const origin = { commandId, accountId, actor: { kind: 'system', id: 'delivery' } } as const;
    await this.recipients.handle(agentId, { type: 'Forget', agentId, at }, origin);
  }
}
