import { CommandHandler, type EventStore, type ProjectionRunner } from '@berth/event-store';
import { Requester, type NatsLink } from '@berth/messaging';
import { operationsControllers, operationsProviders, type Operations } from '@berth/operations';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import type { DeliveryConfig } from './config.js';
import { ConversationListQuery } from './conversation-list/conversation-list.query.js';
import { AttachmentCommandHandler } from './delivery/attachment.command-handler.js';
import { ChatCommandHandler } from './delivery/chat.command-handler.js';
import { DeliveryCommandHandler } from './delivery/delivery.command-handler.js';
import { deliveryDecider, type DeliveryCommand } from './delivery/delivery.decider.js';
import { deliveryCodec } from './delivery/delivery.events.js';
import { DeliveryNatsController } from './delivery/delivery.nats-controller.js';
import type { Delivery, DeliveryEvent } from './delivery/delivery.js';
import { HandOver } from './delivery/hand-over.js';
import { MessageBudget } from './delivery/message-budget.js';
import { LostDeliveries } from './timers/lost-deliveries.js';

/** What the service stands on, opened before it. */
export interface DeliveryParts {
  readonly config: DeliveryConfig;
  readonly link: NatsLink;
  readonly store: EventStore;
  readonly database: Database;
  readonly conversationList: ProjectionRunner;
  readonly operations: Operations;
  readonly log: Logger;
}

type Deliveries = CommandHandler<Delivery, DeliveryCommand, DeliveryEvent>;

@Module({})
export class AppModule {
  static forRoot(parts: DeliveryParts): DynamicModule {
    const { database, conversationList, operations, store, log } = parts;
    const deliveries: Deliveries = new CommandHandler({
      store,
      decider: deliveryDecider,
      codec: deliveryCodec,
      cacheSize: 1_000,
    });
    const query = new ConversationListQuery(database);
    return {
      module: AppModule,
      controllers: [DeliveryNatsController, ...operationsControllers('delivery')],
      providers: [
        ...messageProviders(parts, new DeliveryCommandHandler(deliveries, conversationList), query),
        ...operationsProviders(operations),
        { provide: LostDeliveries, useValue: new LostDeliveries(deliveries, query, log) },
      ],
    };
  }
}

/** Every way a message comes in; they share one budget. */
const messageProviders = (
  { config, link, database, log }: DeliveryParts,
  deliveries: DeliveryCommandHandler,
  query: ConversationListQuery,
): Provider[] => {
  const handOver = new HandOver(new Requester(link));
  const budget = new MessageBudget(database, config.messagesPerMinute);
  return [
    {
      provide: ChatCommandHandler,
      useValue: new ChatCommandHandler(deliveries, query, handOver, budget),
    },
    {
      provide: AttachmentCommandHandler,
      useValue: new AttachmentCommandHandler(deliveries, query, handOver, budget, log),
    },
  ];
};
