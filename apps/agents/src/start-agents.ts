import { ProjectionRunner } from '@berth/event-store';
import { EventRelay, Requester, startService } from '@berth/messaging';
import { operationsOf } from '@berth/operations';
import { AdvisoryLock } from '@berth/persistence';
import { BackgroundWork, closeParts, openParts, type ServiceParts, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { agentListProjection } from './agent-list/agent-list.projection.js';
import { observeAgents } from './agent/agent-metrics.js';
import { agentCodec } from './agent/agent.events.js';
import { AppModule } from './app.module.js';
import { assemble, type AgentsHandlers } from './assemble.js';
import type { AgentsConfig } from './config.js';
import { migrations } from './migrations/migrations.js';
import { toContractEvent } from './publish/to-contract-event.js';
import { TemplateCatalogue } from './templates/template-catalogue.js';

const NAME = 'agents';

/**
 * Starts the service; resolves once it hears requests and its tables contain what the log held at the start. Throws the
 * reason of `signal` when that aborts before.
 */
export const startAgents = async (
  config: AgentsConfig,
  log: Logger,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Stoppable> => {
  const templates = await TemplateCatalogue.read(config.templateFolders);
  const opened = await openParts({
    name: NAME,
    config,
    migrations,
    needs: { publishes: [NAME] },
    log,
    signal,
  });
  const { database, store, link } = opened;
  const work = new BackgroundWork(log);
  const agentList = new ProjectionRunner({ store, database, projection: agentListProjection, log });
  const operations = operationsOf({
    ...opened,
    service: NAME,
    projections: { [agentListProjection.name]: agentList },
  });
  let service: Stoppable | undefined;
  const stop = async (): Promise<void> => {
    await service?.stop();
    await Promise.all([work.stop(), operations.projections.stop()]);
    await closeParts(opened);
  };
  try {
    work.start('agent-list', (signal) => agentList.run(signal));
    await agentList.untilCaughtUp(signal);
    const requester = new Requester(link);
    const parts = { ...opened, requester, config, templates, agentList, operations };
    const handlers = assemble(parts);
    service = await startService({ name: NAME, module: AppModule.forRoot(parts, handlers), link, log });
    startBackground(work, opened, handlers);
    observeAgents(database);
    return { name: NAME, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const startBackground = (work: BackgroundWork, opened: ServiceParts, { timers }: AgentsHandlers): void => {
  const { database, log } = opened;
  const relay = new EventRelay({
    ...opened,
    context: NAME,
    categories: [agentCodec.category],
    toContractEvent,
  });
  work.start('relay', (signal) => relay.run(signal));
  work.start('timers', (signal) =>
    AdvisoryLock.run(database, `${NAME}/timers`, (held) => timers.run(held), { signal, log }),
  );
};
