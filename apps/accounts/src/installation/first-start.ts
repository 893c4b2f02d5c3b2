import { isDomainError } from '@berth/kernel';
import { AdvisoryLock, Database } from '@berth/persistence';
import { ServiceContext } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AccountsConfig } from '../config.js';
import { KeyRecovery } from '../recovery/key-recovery.js';
import { Installer } from './installer.js';

const INSTALL_WITHIN_MS = 60_000;

/** Installs before the service handles requests: its first caller may use the key immediately. */
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
    let outcome: Error | 'done' | undefined;
    const attempt = async (): Promise<void> => {
      try {
        await this.installer.install(this.config.bootstrapKeyFile);
        outcome = 'done';
      } catch (error) {
        if (isDomainError(error, 'unavailable')) throw error;
        outcome = error instanceof Error ? error : new Error(String(error));
      }
    };
    const { log } = this;
    const options = { signal, log, brief: true };
    await AdvisoryLock.run(this.database, `${this.context.name}/install`, attempt, options);
    if (outcome === undefined) throw new Error('The event log did not respond in time.');
    if (outcome !== 'done') throw outcome;
  }
}
