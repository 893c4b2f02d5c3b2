import { isDomainError, systemClock } from '@berth/kernel';
import { EventRelay, startService } from '@berth/messaging';
import { operationsOf } from '@berth/operations';
import { AdvisoryLock, type Database } from '@berth/persistence';
import { BackgroundWork, closeParts, openParts, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { AppModule } from './app.module.js';
import { assemble, type Accounts } from './assemble.js';
import type { AccountsConfig } from './config.js';
import { install } from './installation/install.js';
import { keyListProjection } from './key-list/key-list.projection.js';
import { KeyRow, KeyUsageRow } from './key-list/key-row.entity.js';
import { migrations } from './migrations.js';
import { recoverKey, tellWhenLockedOut } from './recovery/recover-key.js';
import { RecoverySocket } from './recovery/recovery-socket.js';
import { PUBLISHED_CATEGORIES, toContractEvent } from './publish/to-contract-event.js';

const NAME = 'accounts';
const INSTALL_WITHIN_MS = 60_000;

/**
 * Starts the service; resolves once it hears requests, its tables contain what the log held at the start, and the first
 * account's key is there. Throws the reason of `signal` when that aborts before.
 */
export const startAccounts = async (
  config: AccountsConfig,
  log: Logger,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Stoppable> => {
  const opened = await openParts({
    name: NAME,
    config,
    migrations,
    entities: [KeyRow, KeyUsageRow],
    needs: { publishes: [NAME] },
    log,
    signal,
  });
  const { database, store, link } = opened;
  const accounts = assemble({ store, database, clock: systemClock, log });
  const operations = operationsOf({
    ...opened,
    service: NAME,
    projections: { [keyListProjection.name]: accounts.keyListRunner },
  });
  const relay = new EventRelay({
    store,
    link,
    database,
    context: NAME,
    categories: PUBLISHED_CATEGORIES,
    toContractEvent,
    log,
  });
  const background = new BackgroundWork(log);
  let service: Stoppable | undefined;
  let recoverySocket: RecoverySocket | undefined;
  const stop = async (): Promise<void> => {
    await Promise.all([service?.stop(), recoverySocket?.close()]);
    await Promise.all([background.stop(), operations.projections.stop(), accounts.usage.settle()]);
    await closeParts(opened);
  };
  try {
    background.start('projection key-list', (signal) => accounts.keyListRunner.run(signal));
    background.start('relay', (signal) => relay.run(signal));
    await accounts.keyListRunner.untilCaughtUp(signal);
    // Whoever hears that the service is there may look for the key at once.
    await installOnce(accounts, database, config.bootstrapKeyFile, log);
    const module = AppModule.forRoot(accounts.app, operations);
    service = await startService({ name: NAME, module, link, log });
    await tellWhenLockedOut(accounts.install, log);
    const recovery = { ...accounts.install, keys: accounts.app.keys };
    recoverySocket = await RecoverySocket.open(config.recoverySocket, () => recoverKey(recovery), log);
    return { name: NAME, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** The first start, by one process at a time. Waits (bounded) for a log that is briefly away. */
const installOnce = async (
  accounts: Accounts,
  database: Database,
  keyFile: string,
  log: Logger,
): Promise<void> => {
  const signal = AbortSignal.timeout(INSTALL_WITHIN_MS);
  let outcome: Error | 'done' | undefined;
  const attempt = async (): Promise<void> => {
    try {
      await install(accounts.install, keyFile);
      outcome = 'done';
    } catch (error) {
      if (isDomainError(error, 'unavailable')) throw error;
      outcome = error instanceof Error ? error : new Error(String(error));
    }
  };
  await AdvisoryLock.run(database, `${NAME}/install`, attempt, { signal, log });
  if (outcome === undefined) throw new Error('The event log did not answer in time.');
  if (outcome !== 'done') throw outcome;
};
