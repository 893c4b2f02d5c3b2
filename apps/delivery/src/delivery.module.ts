import { AgentClient } from '@berth/agent-client';
import { SecretBox } from '@berth/persistence';
import { PlatformModule, ProjectionModule } from '@berth/service';
import { Module } from '@nestjs/common';
import { DeliveryConfig, readDeliveryConfig } from './config.js';
import { conversationListProjection } from './conversation-list/conversation-list.projection.js';
import { ConversationListQuery } from './conversation-list/conversation-list.query.js';
import { AgentDispatcher } from './delivery/agent-dispatcher.js';
import { AttachmentCommandHandler } from './delivery/attachment.command-handler.js';
import { ChatCommandHandler } from './delivery/chat.command-handler.js';
import { DeliveryCommandHandler } from './delivery/delivery.command-handler.js';
import { DeliveryNatsController } from './delivery/delivery.nats-controller.js';
import { DeliveryStreams } from './delivery/delivery.streams.js';
import { HandOverCommandHandler } from './delivery/hand-over.command-handler.js';
import { EarlierMessage } from './delivery/earlier-message.js';
import { LastOutcomes } from './delivery/last-outcomes.js';
import { MessageAdmission } from './delivery/message-admission.js';
import { MessageBudget } from './delivery/message-budget.js';
import { MessageJournal } from './delivery/message-journal.js';
import { OutcomeRecorder } from './delivery/outcome-recorder.js';
import { migrations } from './migrations/index.js';
import { ForgetConversationsWhenAgentIsGone } from './react/forget-conversations-when-agent-is-gone.js';
import { ForgetWebhooksWhenAgentIsGone } from './react/forget-webhooks-when-agent-is-gone.js';
import { HandOverWhenAgentRuns } from './react/hand-over-when-agent-runs.js';
import { RecipientStreams } from './recipient/recipient.streams.js';
import { LostDeliveries } from './timers/lost-deliveries.js';
import { webhookListProjection } from './webhook-list/webhook-list.projection.js';
import { WebhookListQuery } from './webhook-list/webhook-list.query.js';
import { AuthorizeWebhookQuery } from './webhook-token/authorize-webhook.query.js';
import { InvokedAgents } from './webhook-token/invoked-agents.js';
import { WebhookTokenHandler } from './webhook-token/webhook-token.command-handler.js';
import { WebhookTokenStreams } from './webhook-token/webhook-token.streams.js';
import { WebhookTokenVault } from './webhook-token/webhook-token-vault.js';
import { AcceptanceMarks } from './webhook/acceptance-marks.js';
import { AcceptWebhookHandler } from './webhook/accept-webhook.js';
import { QueueNotices } from './webhook/queue-notices.js';
import { RedeliverWebhookHandler } from './webhook/redeliver.command-handler.js';
import { WebhookAttempt } from './webhook/webhook-attempt.js';
import { WebhookIntake } from './webhook/webhook-intake.js';
import { WebhookStreams } from './webhook/webhook-delivery.streams.js';
import { WebhookLane } from './webhook/webhook-lane.js';
import { WebhookQueue } from './webhook/webhook-queue.js';
import { WebhookRate } from './webhook/webhook-rate.js';
import { WebhookUpkeep } from './webhook/webhook-upkeep.js';
import { WebhookVault } from './webhook/webhook-vault.js';
import { WebhookNatsController } from './webhook/webhook.nats-controller.js';

@Module({
  imports: [
    PlatformModule.forService({
      name: 'delivery',
      config: DeliveryConfig,
      readConfig: readDeliveryConfig,
      tables: { migrations },
      streams: { consumes: ['agents'] },
    }),
    ProjectionModule.forFeature(conversationListProjection),
    ProjectionModule.forFeature(webhookListProjection),
  ],
  controllers: [DeliveryNatsController, WebhookNatsController],
  providers: [
    DeliveryStreams,
    DeliveryCommandHandler,
    RecipientStreams,
    ConversationListQuery,
    MessageBudget,
    MessageJournal,
    AgentClient,
    AgentDispatcher,
    MessageAdmission,
    EarlierMessage,
    OutcomeRecorder,
    ChatCommandHandler,
    AttachmentCommandHandler,
    HandOverCommandHandler,
    LastOutcomes,
    LostDeliveries,
    ForgetConversationsWhenAgentIsGone,

    {
      provide: SecretBox,
      inject: [DeliveryConfig],
      useFactory: ({ keyring }: DeliveryConfig) => new SecretBox(keyring),
    },
    WebhookStreams,
    WebhookVault,
    WebhookRate,
    WebhookIntake,
    AcceptanceMarks,
    QueueNotices,
    AcceptWebhookHandler,
    RedeliverWebhookHandler,
    WebhookListQuery,
    WebhookAttempt,
    WebhookLane,
    WebhookQueue,
    WebhookUpkeep,
    WebhookTokenStreams,
    WebhookTokenVault,
    WebhookTokenHandler,
    InvokedAgents,
    AuthorizeWebhookQuery,
    ForgetWebhooksWhenAgentIsGone,
    HandOverWhenAgentRuns,
  ],
})
export class DeliveryModule {}
