import { ServiceContext } from '@berth/service';
import { Supervisor } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import type { FactoryProvider } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { DataFolderLock } from '../data-folder-lock.js';
import { Driver } from './driver.js';

/** The driver that the configuration names; it is open while the service runs. */
export const driverProvider: FactoryProvider<Driver> = {
  provide: Driver,
  inject: [RuntimeConfig, ServiceContext, Supervisor, Logger, DataFolderLock],
  useFactory: async (
    config: RuntimeConfig,
    { resources }: ServiceContext,
    supervisor: Supervisor,
    log: Logger,
  ) => {
    const driver = config.driver.create({ ...config, log });
    resources.defer(() => driver.close());
    await driver.open();
    supervisor.start('driver', (signal) => driver.keepUp(signal));
    return driver;
  },
};
