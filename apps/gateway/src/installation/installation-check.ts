import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError } from '@berth/config';
import { installationHolder, NatsLink, UnfitBroker, unlessRefused } from '@berth/messaging';
import { endProcess } from '@berth/service';
import { Logger } from '@berth/telemetry';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
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
export class InstallationCheck implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  readonly #stopping = new AbortController();
  #logId: string | undefined;
  #failing = false;

  constructor(
    private readonly link: NatsLink,
    private readonly bound: BoundInstallation,
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
      this.#failed(error);
      return;
    }
    throw new ConfigError([
      `BERTH_INSTANCE must name the installation of this gateway: ${instance} is used on this broker by one with another event log than the responses stored in DATABASE_URL (if you replaced the event log on purpose, delete the rows of gateway_vault.idempotent_answers)`,
    ]);
  }

  onApplicationBootstrap(): void {
    void this.#recheck();
  }

  onApplicationShutdown(): void {
    this.#stopping.abort();
  }

  async #recheck(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      await pause(RECHECK_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      if (!this.link.connected) continue;
      try {
        if (!(await this.#isOurs())) return await this.#lost();
        this.#failing = false;
      } catch (error) {
        this.#failed(error);
      }
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

  #failed(error: unknown): void {
    if (this.#failing || this.#stopping.signal.aborted) return;
    this.#failing = true;
    this.log.warn({ err: error }, 'Could not check which installation uses the name on the broker.');
  }
}
