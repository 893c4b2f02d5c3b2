import { connectEventStore, ProjectionRunner } from '@berth/event-store';
import { systemClock } from '@berth/kernel';
import { EventConsumer, NatsLink, startService } from '@berth/messaging';
import { Projections } from '@berth/operations';
import { AdvisoryLock, openDatabase } from '@berth/persistence';
import { BackgroundWork, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { AppModule } from './app.module.js';
import type { DeliveryConfig } from './config.js';
import { conversationListProjection } from './conversation-list/conversation-list.projection.js';
import { createDeliveryTables } from './migrations/2026-11-21-delivery.js';
import { ForgetConversationsWhenAgentIsGone } from './react/forget-conversations-when-agent-is-gone.js';
import { LostDeliveries } from './timers/lost-deliveries.js';

export { readDeliveryConfig, type DeliveryConfig } from './config.js';

/** Starts the service; when it answers, the service hears requests. */
export const startDelivery = async (config: DeliveryConfig, log: Logger): Promise<Stoppable> => {
  const database = await openDatabase({
    url: config.databaseUrl,
    schema: 'delivery',
    migrations: [createDeliveryTables],
    applicationName: 'berth-delivery',
    log,
  });
  const store = connectEventStore({ url: config.eventStoreUrl, log });
  const link = await NatsLink.open({ url: config.natsUrl, name: 'delivery', log });
  const work = new BackgroundWork(log);
  const conversationList = new ProjectionRunner({
    store,
    database,
    projection: conversationListProjection,
    log,
  });
  work.start('conversation-list', (signal) => conversationList.run(signal));
  await conversationList.untilServing();
  const projections = new Projections(
    'delivery',
    { [conversationListProjection.name]: conversationList },
    systemClock,
    log,
  );
  const module = AppModule.forRoot({ config, link, store, database, conversationList, projections, log });
  const service = await startService({ name: 'delivery', module, link, log });

  const forget = new ForgetConversationsWhenAgentIsGone(store);
  const deletedAgents = new EventConsumer({
    link,
    database,
    context: 'agents',
    durable: 'delivery__forget-conversations',
    filterSubjects: ['evt.agents.deleted.v1.>'],
    handle: (event) => forget.handle(event),
    log,
  });
  const lost = service.app.get(LostDeliveries);
  work.start('forget-conversations', (signal) => deletedAgents.run(signal));
  work.start('lost-deliveries', (signal) =>
    AdvisoryLock.run(database, 'delivery/timers', (held) => lost.run(held), { signal, log }),
  );

  return {
    name: 'delivery',
    stop: async () => {
      await service.stop();
      await Promise.all([work.stop(), projections.stop()]);
      await Promise.all([store.close(), database.close(), link.close()]);
    },
  };
};
