import { ProjectionRunner } from '@berth/event-store';
import { EventConsumer, EventRelay, startService } from '@berth/messaging';
import { operationsOf } from '@berth/operations';
import { AdvisoryLock } from '@berth/persistence';
import { BackgroundWork, closeParts, openParts, type ServiceParts, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { AppModule } from './app.module.js';
import { assemble, type ExecHandlers, type Timing } from './assemble.js';
import type { ExecConfig } from './config.js';
import { executionListProjection } from './execution-list/execution-list.projection.js';
import { executionCodec } from './execution/execution.events.js';
import { createExecTables } from './migrations/2026-11-21-exec.js';
import { toContractEvent } from './publish/to-contract-event.js';

const NAME = 'exec';
/** Only lists wait for the table; every command writes two events. */
const GATHER_MS = 50;

/**
 * Starts the service; resolves once it hears requests and its tables contain what the log held at the start. Throws the
 * reason of `signal` when that aborts before.
 */
export const startExec = async (
  config: ExecConfig,
  log: Logger,
  { signal, ...timing }: Timing & { readonly signal?: AbortSignal } = {},
): Promise<Stoppable> => {
  const opened = await openParts({
    name: NAME,
    config,
    migrations: [createExecTables],
    needs: { publishes: [NAME], consumes: ['agents'] },
    log,
    signal,
  });
  const { database, store, link } = opened;
  const work = new BackgroundWork(log);
  const projection = executionListProjection;
  const executionList = new ProjectionRunner({ store, database, projection, log, gatherMs: GATHER_MS });
  const handlers = assemble({ ...opened, executionList }, timing);
  const agentEvents = consumeAgentEvents(opened, handlers);
  const operations = operationsOf({
    ...opened,
    service: NAME,
    projections: { [projection.name]: executionList },
    consumers: [agentEvents],
  });
  let service: Stoppable | undefined;
  const stop = async (): Promise<void> => {
    const answered = service?.stop();
    handlers.stop();
    await answered;
    await Promise.all([work.stop(), operations.projections.stop()]);
    await closeParts(opened);
  };
  try {
    work.start('execution-list', (signal) => executionList.run(signal));
    await executionList.untilCaughtUp(signal);
    const module = AppModule.forRoot(handlers, operations);
    service = await startService({ name: NAME, module, link, log });
    startBackground(work, opened, handlers, agentEvents);
    return { name: NAME, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const consumeAgentEvents = (opened: ServiceParts, { agentEnds }: ExecHandlers): EventConsumer =>
  new EventConsumer({
    ...opened,
    context: 'agents',
    durable: 'exec__agent-ends',
    filterSubjects: [
      'evt.agents.started.v1.>',
      'evt.agents.fell-asleep.v1.>',
      'evt.agents.stopped.v1.>',
      'evt.agents.failed.v1.>',
      'evt.agents.deleted.v1.>',
    ],
    handle: (event, tx) => agentEnds.handle(event, tx),
    forgetAfter: (position, tx) => agentEnds.forgetAfter(position, tx),
  });

const startBackground = (
  work: BackgroundWork,
  opened: ServiceParts,
  { reconciler }: ExecHandlers,
  agentEvents: EventConsumer,
): void => {
  const { database, log } = opened;
  const relay = new EventRelay({
    ...opened,
    context: NAME,
    categories: [executionCodec.category],
    toContractEvent,
  });
  work.start('relay', (signal) => relay.run(signal));
  work.start('agent-ends', (signal) => agentEvents.run(signal));
  work.start('reconciler', (signal) =>
    AdvisoryLock.run(database, `${NAME}/timers`, (held) => reconciler.run(held), { signal, log }),
  );
};
