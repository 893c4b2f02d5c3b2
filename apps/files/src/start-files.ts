import { connectEventStore } from '@berth/event-store';
import { NatsLink, startService } from '@berth/messaging';
import type { Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { AppModule } from './app.module.js';
import { LaterAttempts } from './change/later-attempts.js';
import type { FilesConfig } from './config.js';

const NAME = 'files';

/** Starts the service; when it answers, the service hears requests. */
export const startFiles = async (config: FilesConfig, log: Logger): Promise<Stoppable> => {
  const link = await NatsLink.open({ url: config.natsUrl, name: `berth-${NAME}`, log });
  const store = connectEventStore({ url: config.eventStoreUrl, log });
  const later = new LaterAttempts(log);
  let service: Stoppable | undefined;
  const stop = async (): Promise<void> => {
    await service?.stop();
    await later.stop();
    await Promise.all([link.close(), store.close()]);
  };
  try {
    const module = AppModule.forRoot({ link, store, later, log });
    service = await startService({ name: NAME, module, link, log });
    return { name: NAME, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
