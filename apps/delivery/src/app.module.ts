import { CommandHandler, ProjectionRunner, type EventStore } from '@berth/event-store';
import { Requester, type NatsLink } from '@berth/messaging';
import { Projections, projectionsController } from '@berth/operations';
import { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { Module, type DynamicModule } from '@nestjs/common';
import type { DeliveryConfig } from './config.js';
import { ConversationListQuery } from './conversation-list/conversation-list.query.js';
import { ChatCommandHandler } from './delivery/chat.command-handler.js';
import { deliveryDecider, type DeliveryCommand } from './delivery/delivery.decider.js';
import { deliveryCodec } from './delivery/delivery.events.js';
import { DeliveryNatsController } from './delivery/delivery.nats-controller.js';
import type { Delivery, DeliveryEvent } from './delivery/delivery.js';
import { HandOver } from './delivery/hand-over.js';
import { MessageBudget } from './delivery/message-budget.js';
import { LostDeliveries } from './timers/lost-deliveries.js';
import { DELIVERIES } from './tokens.js';

/** What the service stands on, opened before it. */
export interface DeliveryParts {
  readonly config: DeliveryConfig;
  readonly link: NatsLink;
  readonly store: EventStore;
  readonly database: Database;
  readonly conversationList: ProjectionRunner;
  readonly projections: Projections;
  readonly log: Logger;
}

type Deliveries = CommandHandler<Delivery, DeliveryCommand, DeliveryEvent>;

@Module({})
export class AppModule {
  static forRoot({
    config,
    link,
    database,
    conversationList,
    projections,
    store,
    log,
  }: DeliveryParts): DynamicModule {
    const deliveries: Deliveries = new CommandHandler({
      store,
      decider: deliveryDecider,
      codec: deliveryCodec,
      cacheSize: 1_000,
    });
    return {
      module: AppModule,
      controllers: [DeliveryNatsController, projectionsController('delivery')],
      providers: [
        { provide: DELIVERIES, useValue: deliveries },
        { provide: Database, useValue: database },
        { provide: HandOver, useValue: new HandOver(new Requester(link)) },
        { provide: MessageBudget, useValue: new MessageBudget(database, config.messagesPerMinute) },
        { provide: ConversationListQuery, useValue: new ConversationListQuery(database) },
        { provide: Projections, useValue: projections },
        { provide: ProjectionRunner, useValue: conversationList },
        {
          provide: ChatCommandHandler,
          useFactory: (
            query: ConversationListQuery,
            runner: ProjectionRunner,
            handOver: HandOver,
            budget: MessageBudget,
          ) => new ChatCommandHandler(deliveries, query, runner, handOver, budget),
          inject: [ConversationListQuery, ProjectionRunner, HandOver, MessageBudget],
        },
        {
          provide: LostDeliveries,
          useFactory: (query: ConversationListQuery) => new LostDeliveries(deliveries, query, log),
          inject: [ConversationListQuery],
        },
      ],
    };
  }
}
