import { brokerOf, startService } from '@berth/messaging';
import { claimInstallation, openLink, openLog, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { AppModule } from './app.module.js';
import { LaterAttempts } from './change/later-attempts.js';
import type { FilesConfig } from './config.js';

const NAME = 'files';

/** Starts the service. Resolves once the service accepts requests. */
export const startFiles = async (config: FilesConfig, log: Logger): Promise<Stoppable> => {
  const store = await openLog({ url: config.eventStoreUrl, log });
  const link = await openLink({ ...brokerOf(config), name: NAME, log });
  const later = new LaterAttempts(log);
  let service: Stoppable | undefined;
  const stop = async (): Promise<void> => {
    await service?.stop();
    await later.stop();
    await Promise.all([link.close(), store.close()]);
  };
  try {
    await claimInstallation({ config, link, store, log });
    const module = AppModule.forRoot({ link, store, later, log });
    service = await startService({ name: NAME, module, link, log });
    return { name: NAME, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
