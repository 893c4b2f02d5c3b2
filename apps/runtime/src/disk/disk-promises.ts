import { diskSpace } from '@berth/host-requirements';
import { Logger, metrics } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { Driver, type PromisedDisk } from '../driver/driver.js';

const COUNTED_EVERY_MS = 5_000;

/** Compares what the volumes of the agents may grow to with the disk, which has less where volumes are sparse files. */
@Injectable()
export class DiskPromises {
  #counted: { readonly at: number; readonly promised: Promise<PromisedDisk | null> } | undefined;
  #isOvercommitted = false;

  constructor(
    @Inject(RuntimeConfig) private readonly config: Pick<RuntimeConfig, 'dataDir' | 'diskOvercommit'>,
    @Inject(Driver) private readonly driver: Pick<Driver, 'promisedDisk'>,
    private readonly log: Logger,
  ) {
    metrics.gauge(
      'berth_disk_promised_bytes',
      'What the volumes of all agents of the host may take, where the driver limits them.',
      [],
      async () => (await this.#promised())?.promisedBytes ?? 0,
    );
  }

  /** Bytes that may be promised to new agents; undefined where volumes have no size. */
  async grantableBytes(): Promise<number | undefined> {
    const promised = await this.#promised();
    if (promised === null) return undefined;
    const { promisedBytes, storedBytes } = promised;
    const { freeBytes } = diskSpace(this.config.dataDir);
    this.#report(promisedBytes - storedBytes, freeBytes);
    return Math.max(0, this.config.diskOvercommit * (storedBytes + freeBytes) - promisedBytes);
  }

  #promised(): Promise<PromisedDisk | null> {
    const now = performance.now();
    if (this.#counted === undefined || now - this.#counted.at > COUNTED_EVERY_MS)
      this.#counted = { at: now, promised: this.driver.promisedDisk() };
    return this.#counted.promised;
  }

  #report(growthBytes: number, freeBytes: number): void {
    const isOvercommitted = growthBytes > freeBytes;
    if (isOvercommitted === this.#isOvercommitted) return;
    this.#isOvercommitted = isOvercommitted;
    if (isOvercommitted)
      this.log.warn(
        { growthBytes, freeBytes },
        'The volumes of the agents may grow by more than the disk of this host has free.',
      );
    else this.log.info('The disk of this host has room for all that the volumes of its agents may hold.');
  }
}
