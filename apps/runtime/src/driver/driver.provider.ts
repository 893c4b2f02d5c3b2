import { ServiceContext } from '@berth/service';
import { Logger } from '@berth/telemetry';
import type { FactoryProvider } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { Driver } from './driver.js';

/** The driver that the configuration names; it is open while the service runs. */
export const driverProvider: FactoryProvider<Driver> = {
  provide: Driver,
  inject: [RuntimeConfig, ServiceContext, Logger],
  useFactory: async (config: RuntimeConfig, { resources }: ServiceContext, log: Logger) => {
    const driver = config.driver.create({ ...config, log });
    resources.defer(() => driver.close());
    await driver.open();
    return driver;
  },
};
