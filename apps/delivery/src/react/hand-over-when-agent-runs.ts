import { agentsEvents, type AgentLifecycleEvent } from '@berth/contracts/agents';
import type { ReceivedEvent } from '@berth/messaging';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { QueueNotices } from '../webhook/queue-notices.js';

/** An agent that runs again gets what was held for it at once. A lost notice costs the pause between two checks. */
@ConsumeEvents({
  context: 'agents',
  durable: 'delivery__hand-over-held',
  events: [agentsEvents.started],
})
@Injectable()
export class HandOverWhenAgentRuns implements EventReaction<AgentLifecycleEvent> {
  constructor(private readonly notices: QueueNotices) {}

  handle({ payload: { agentId } }: ReceivedEvent<AgentLifecycleEvent>): Promise<void> {
    this.notices.announceThatRuns(agentId);
    return Promise.resolve();
  }
}
