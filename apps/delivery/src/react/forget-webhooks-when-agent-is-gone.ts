import { agentsEvents, type AgentLifecycleEvent } from '@berth/contracts/agents';
import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { WebhookTokenVault } from '../webhook-token/webhook-token-vault.js';
import { WebhookVault } from '../webhook/webhook-vault.js';

/** Destroys the token and the bodies of a deleted agent; its deliveries vanish with its conversations. */
@ConsumeEvents({
  context: 'agents',
  durable: 'delivery__forget-webhooks',
  events: [agentsEvents.deleted],
})
@Injectable()
export class ForgetWebhooksWhenAgentIsGone implements EventReaction<AgentLifecycleEvent> {
  constructor(
    private readonly bodies: WebhookVault,
    private readonly tokens: WebhookTokenVault,
  ) {}

  async handle({ payload: { agentId } }: ReceivedEvent<AgentLifecycleEvent>, tx: SqlRunner): Promise<void> {
    await this.bodies.removeAllOf(agentId, tx);
    await this.tokens.remove(agentId, tx);
  }
}
