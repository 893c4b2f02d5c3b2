import { CommandHandler, type EventStore, type ProjectionRunner } from '@berth/event-store';
import { Requester, type NatsLink } from '@berth/messaging';
import { operationsControllers, operationsProviders, type Operations } from '@berth/operations';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { Module, type DynamicModule } from '@nestjs/common';
import type { DeliveryConfig } from './config.js';
import { ConversationListQuery } from './conversation-list/conversation-list.query.js';
import { AttachmentCommandHandler } from './delivery/attachment.command-handler.js';
import { ChatCommandHandler } from './delivery/chat.command-handler.js';
import { DeliveryCommandHandler } from './delivery/delivery.command-handler.js';
import { deliveryDecider, type DeliveryCommand } from './delivery/delivery.decider.js';
import { deliveryCodec } from './delivery/delivery.events.js';
import { DeliveryNatsController } from './delivery/delivery.nats-controller.js';
import type { Delivery, DeliveryEvent } from './delivery/delivery.js';
import { EarlierMessage } from './delivery/earlier-message.js';
import { AgentDispatcher } from './delivery/agent-dispatcher.js';
import { MessageAdmission } from './delivery/message-admission.js';
import { MessageBudget } from './delivery/message-budget.js';
import { MessageJournal } from './delivery/message-journal.js';
import { OutcomeNotes } from './delivery/outcome-notes.js';
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
    const { config, link, database, conversationList, operations, store, log } = parts;
    const deliveries: Deliveries = new CommandHandler({
      store,
      decider: deliveryDecider,
      codec: deliveryCodec,
      cacheSize: 1_000,
    });
    const requester = new Requester(link);
    const query = new ConversationListQuery(database);
    const budget = new MessageBudget(database, config.messagesPerMinute);
    const commands = new DeliveryCommandHandler(deliveries, conversationList);
    const journal = new MessageJournal(requester);
    const notes = new OutcomeNotes(commands, log);
    const dispatcher = new AgentDispatcher(requester);
    const admission = new MessageAdmission(query, dispatcher, budget);
    const earlier = new EarlierMessage(dispatcher, journal, notes);
    const lost = new LostDeliveries({ store, deliveries: commands, query, journal, budget, log });
    const chats = new ChatCommandHandler(commands, admission, dispatcher, earlier, notes);
    const attachments = new AttachmentCommandHandler(commands, admission, dispatcher, notes, log);
    return {
      module: AppModule,
      controllers: [DeliveryNatsController, ...operationsControllers('delivery')],
      providers: [
        { provide: ChatCommandHandler, useValue: chats },
        { provide: AttachmentCommandHandler, useValue: attachments },
        { provide: OutcomeNotes, useValue: notes },
        ...operationsProviders(operations),
        { provide: LostDeliveries, useValue: lost },
      ],
    };
  }
}
