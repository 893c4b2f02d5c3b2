import { ConfigError } from '@berth/config';
import { installationHolder, NatsLink, UnfitBroker, unlessRefused } from '@berth/messaging';
import { endProcess } from '@berth/service';
import { pause, Supervisor } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { BoundInstallation } from './bound-installation.js';

/**
 * The gateway may start before the services that claim the name; it then learns the identity of their log within this
 * time.
 */
const RECHECK_MS = 2_000;

/**
 * Compares the installation that holds the gateway's name on the broker with the one whose responses the gateway
 * stores. A name that no installation holds at the moment is checked as soon as one does.
 */
@Injectable()
export class InstallationCheck implements OnModuleInit, OnApplicationBootstrap {
  #logId: string | undefined;

  constructor(
    private readonly link: NatsLink,
    private readonly bound: BoundInstallation,
    private readonly supervisor: Supervisor,
    private readonly log: Logger,
  ) {}

  /**
   * Throws `ConfigError` when another installation holds the name, or the broker does not permit the gateway to find
   * out.
   */
  async onModuleInit(): Promise<void> {
    const { instance } = this.link.names;
    try {
      if (await this.#isOurs()) return;
    } catch (error) {
      if (error instanceof UnfitBroker)
        throw new ConfigError([`NATS_URL ${error.message}`], { cause: error });
      this.log.warn({ err: error }, 'Could not check which installation uses the name on the broker.');
      return;
    }
    throw new ConfigError([
      `BERTH_INSTANCE must name the installation of this gateway: ${instance} is used on this broker by one with another event log than the responses stored in DATABASE_URL (if you replaced the event log on purpose, delete the rows of gateway_vault.idempotent_answers)`,
    ]);
  }

  onApplicationBootstrap(): void {
    this.supervisor.start('installation check', (signal) => this.#recheck(signal));
  }

  async #recheck(signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(RECHECK_MS, signal);
      if (signal.aborted) return;
      if (this.link.connected && !(await this.#isOurs())) await this.#lost();
    }
  }

  async #isOurs(): Promise<boolean> {
    const holder = await unlessRefused(`the stream ${this.link.names.presenceStream}`, () =>
      installationHolder(this.link),
    );
    if (holder === null) return true;
    // A gateway that has served one installation does not switch to another one while it runs.
    if (this.#logId !== undefined) return holder.logId === this.#logId;
    const isBound = await this.bound.bindTo(holder.logId);
    if (isBound) this.#logId = holder.logId;
    return isBound;
  }

  async #lost(): Promise<void> {
    const { instance } = this.link.names;
    this.log.fatal(
      { instance },
      `The name ${instance} is used on this broker by another installation. This one stops using the broker.`,
    );
    // Continuing would mix two installations.
    await this.link.close();
    endProcess();
  }
}
