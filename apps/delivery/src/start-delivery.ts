import { ProjectionRunner } from '@berth/event-store';
import { EventConsumer, startService } from '@berth/messaging';
import { operationsOf } from '@berth/operations';
import { AdvisoryLock } from '@berth/persistence';
import { BackgroundWork, closeParts, openParts, type ServiceParts, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { AppModule } from './app.module.js';
import type { DeliveryConfig } from './config.js';
import { conversationListProjection } from './conversation-list/conversation-list.projection.js';
import { AttachmentCommandHandler } from './delivery/attachment.command-handler.js';
import { OutcomeNotes } from './delivery/outcome-notes.js';
import { migrations } from './migrations/index.js';
import { ForgetConversationsWhenAgentIsGone } from './react/forget-conversations-when-agent-is-gone.js';
import { LostDeliveries } from './timers/lost-deliveries.js';

const NAME = 'delivery';
/** How long a stop lets go on what is in flight: as long as the link lets running requests. */
const IN_FLIGHT_MS = 5_000;
/** What was in flight to the end still has its outcome noted. */
const LAST_NOTES_MS = 500;

/**
 * Starts the service; resolves once it hears requests and its tables contain what the log held at the start. Throws the
 * reason of `signal` when that aborts before.
 */
export const startDelivery = async (
  config: DeliveryConfig,
  log: Logger,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Stoppable> => {
  const opened = await openParts({
    name: NAME,
    config,
    migrations,
    needs: { consumes: ['agents'] },
    log,
    signal,
  });
  const { database, store, link } = opened;
  const work = new BackgroundWork(log);
  const projection = conversationListProjection;
  const conversationList = new ProjectionRunner({ store, database, projection, log });
  const deletedAgents = consumeDeletedAgents(opened);
  const operations = operationsOf({
    ...opened,
    service: NAME,
    projections: { [projection.name]: conversationList },
    consumers: [deletedAgents],
  });
  let service: Stoppable | undefined;
  let attachments: AttachmentCommandHandler | undefined;
  let notes: OutcomeNotes | undefined;
  const stop = async (): Promise<void> => {
    const begun = performance.now();
    await service?.stop();
    // Who told nobody to wait is waited for all the same, for as long as a chat would be.
    const leftMs = (): number => Math.max(0, IN_FLIGHT_MS - (performance.now() - begun));
    await attachments?.settle(leftMs());
    await notes?.settle(Math.max(LAST_NOTES_MS, leftMs()));
    await Promise.all([work.stop(), operations.projections.stop()]);
    await closeParts(opened);
  };
  try {
    work.start('conversation-list', (signal) => conversationList.run(signal));
    await conversationList.untilCaughtUp(signal);
    const module = AppModule.forRoot({ ...opened, config, conversationList, operations });
    const { app, ...started } = await startService({ name: NAME, module, link, log });
    service = started;
    attachments = app.get(AttachmentCommandHandler);
    notes = app.get(OutcomeNotes);
    startBackground(work, opened, deletedAgents, app.get(LostDeliveries));
    return { name: NAME, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const consumeDeletedAgents = (opened: ServiceParts): EventConsumer => {
  const forget = new ForgetConversationsWhenAgentIsGone(opened.store);
  return new EventConsumer({
    ...opened,
    context: 'agents',
    durable: 'delivery__forget-conversations',
    filterSubjects: ['evt.agents.deleted.v1.>'],
    handle: (event) => forget.handle(event),
  });
};

const startBackground = (
  work: BackgroundWork,
  { database, log }: ServiceParts,
  deletedAgents: EventConsumer,
  lost: LostDeliveries,
): void => {
  work.start('forget-conversations', (signal) => deletedAgents.run(signal));
  work.start('lost-deliveries', (signal) =>
    AdvisoryLock.run(database, `${NAME}/timers`, (held) => lost.run(held), { signal, log }),
  );
};
