import { acquireDataLock } from '@berth/host-requirements';
import { ServiceContext } from '@berth/service';
import type { FactoryProvider } from '@nestjs/common';
import { RuntimeConfig } from './config.js';

/** Proof that no other process uses the data folder of this runtime. */
export class DataFolderLock {}

/** Two runtimes on one folder would each end the agents of the other. Throws `DataFolderInUseError`. */
export const dataFolderLock: FactoryProvider<DataFolderLock> = {
  provide: DataFolderLock,
  inject: [RuntimeConfig, ServiceContext],
  useFactory: ({ dataDir }: RuntimeConfig, { resources }: ServiceContext) => {
    const lock = acquireDataLock(dataDir);
    resources.defer(() => Promise.resolve(lock.release()));
    return new DataFolderLock();
  },
};
