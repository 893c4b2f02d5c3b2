import { connectEventStore } from '@berth/event-store';
import type { EmbeddedInfrastructure } from '@berth/embedded';
import { NatsLink } from '@berth/messaging';
import type { BenchContext } from '../context.js';
import { throughPort } from '../log/append-event.js';
import { bareRequest } from '../nats/bare-request.js';
import { startHandlers } from '../nats/start-handlers.js';
import { undoneOnFailure } from '../peers/clean-up.js';

export interface Floor {
  /** A request to another process and its reply, over the broker that Berth uses. */
  readonly natsRoundTrip: () => Promise<unknown>;
  /** Appends one event to the log that Berth uses. */
  readonly append: (worker: number) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** The unavoidable costs of an execution, apart from the shell itself: each measured directly. */
export const openFloor = (
  { env, log }: BenchContext,
  { natsUrl, eventStoreUrl }: EmbeddedInfrastructure,
): Promise<Floor> =>
  undoneOnFailure(async (cleanUp) => {
    const handlers = await startHandlers(natsUrl, env);
    cleanUp.add(() => handlers.stop());
    const link = await NatsLink.open({ url: natsUrl, name: 'bench', log });
    cleanUp.add(() => link.close());
    const store = connectEventStore({ url: eventStoreUrl, log });
    cleanUp.add(() => store.close());
    return {
      natsRoundTrip: bareRequest(link.connection),
      append: throughPort(store),
      close: () => cleanUp.run(),
    };
  });
