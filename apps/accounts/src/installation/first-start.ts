import { isDomainError } from '@berth/kernel';
import { AdvisoryLock, Database } from '@berth/persistence';
import { ServiceContext } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import pRetry, { type Options, type RetryContext } from 'p-retry';
import { AccountsConfig } from '../config.js';
import { KeyRecovery } from '../recovery/key-recovery.js';
import { Installer } from './installer.js';

const INSTALL_WITHIN_MS = 60_000;
const OUTAGES: Options = {
  retries: Infinity,
  minTimeout: 100,
  maxTimeout: 2_000,
  shouldRetry: ({ error }) => isDomainError(error, 'unavailable'),
};

/** Installs before the service handles requests, so that its first caller can use the key immediately. */
@Injectable()
export class FirstStart implements OnApplicationBootstrap {
  constructor(
    private readonly installer: Installer,
    private readonly recovery: KeyRecovery,
    private readonly database: Database,
    private readonly config: AccountsConfig,
    private readonly context: ServiceContext,
    private readonly log: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.installOnce();
    await this.recovery.reportLockout();
  }

  /** One process of the cluster at a time. Waits (bounded) for a log that is briefly unavailable. */
  private async installOnce(): Promise<void> {
    const signal = AbortSignal.timeout(INSTALL_WITHIN_MS);
    const work = async (): Promise<void> => {
      await this.installer.install(this.config.bootstrapKeyFile);
    };
    const lock = `${this.context.name}/install`;
    const install = (): Promise<unknown> =>
      AdvisoryLock.hold(this.database, lock, signal, work, { brief: true });
    try {
      await pRetry(install, { ...OUTAGES, signal, onFailedAttempt: (failed) => this.report(failed) });
    } catch (error) {
      throw signal.aborted ? new Error('The event log did not respond in time.', { cause: error }) : error;
    }
  }

  private report({ error, attemptNumber, retryDelay }: RetryContext): void {
    if (attemptNumber === 1 && retryDelay > 0)
      this.log.warn({ err: error }, 'The installation has to wait for the event log or the database.');
  }
}
