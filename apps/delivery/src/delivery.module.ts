import { AgentClient } from '@berth/agent-client';
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
import { RecipientStreams } from './recipient/recipient.streams.js';
import { LostDeliveries } from './timers/lost-deliveries.js';

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
  ],
  controllers: [DeliveryNatsController],
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
  ],
})
export class DeliveryModule {}
