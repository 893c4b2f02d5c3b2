import { connectEventStore, ProjectionRunner } from '@berth/event-store';
import { systemClock } from '@berth/kernel';
import { EventRelay, NatsLink, startService } from '@berth/messaging';
import { Projections } from '@berth/operations';
import { AdvisoryLock, openDatabase } from '@berth/persistence';
import { BackgroundWork, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { AppModule } from './app.module.js';
import { agentListProjection } from './agent-list/agent-list.projection.js';
import { agentCodec } from './agent/agent.events.js';
import type { AgentsConfig } from './config.js';
import { createAgentsTables } from './migrations/2026-11-21-agents.js';
import { toContractEvent } from './publish/to-contract-event.js';
import { TemplateCatalogue } from './templates/template-catalogue.js';
import { AgentTimers } from './timers/agent-timers.js';

export { readAgentsConfig, type AgentsConfig } from './config.js';

/** Starts the service; when it answers, the service hears requests. */
export const startAgents = async (config: AgentsConfig, log: Logger): Promise<Stoppable> => {
  const templates = await TemplateCatalogue.read(config.templateFolders);
  const database = await openDatabase({
    url: config.databaseUrl,
    schema: 'agents',
    migrations: [createAgentsTables],
    applicationName: 'berth-agents',
    log,
  });
  const store = connectEventStore({ url: config.eventStoreUrl, log });
  const link = await NatsLink.open({ url: config.natsUrl, name: 'agents', log });
  const work = new BackgroundWork(log);
  const agentList = new ProjectionRunner({ store, database, projection: agentListProjection, log });
  work.start('agent-list', (signal) => agentList.run(signal));
  await agentList.untilServing();
  const projections = new Projections('agents', { [agentListProjection.name]: agentList }, systemClock, log);
  const module = AppModule.forRoot({ config, link, store, database, templates, agentList, projections, log });
  const service = await startService({ name: 'agents', module, link, log });
  const timers = service.app.get(AgentTimers);
  const relay = new EventRelay({
    store,
    link,
    database,
    context: 'agents',
    categories: [agentCodec.category],
    toContractEvent,
    log,
  });
  work.start('relay', (signal) => relay.run(signal));
  work.start('timers', (signal) =>
    AdvisoryLock.run(database, 'agents/timers', (held) => timers.run(held), { signal, log }),
  );

  return {
    name: 'agents',
    stop: async () => {
      await service.stop();
      await Promise.all([work.stop(), projections.stop()]);
      await Promise.all([store.close(), database.close(), link.close()]);
    },
  };
};
