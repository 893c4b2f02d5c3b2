import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { HostFigures } from '@berth/contracts/hosting';
import { Inject, Injectable } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { DiskPromises } from '../disk/disk-promises.js';
import { Driver } from '../driver/driver.js';

const GB = 1024 ** 3;

/** Measures what this host has and offers. */
@Injectable()
export class HostFigureReader {
  readonly #version = ownVersion();

  constructor(
    @Inject(RuntimeConfig) private readonly config: Pick<RuntimeConfig, 'hostName' | 'dataDir'>,
    @Inject(Driver) private readonly driver: Pick<
      Driver,
      'name' | 'capabilities' | 'memoryMb' | 'hasDesktops'
    >,
    @Inject(DiskPromises) private readonly promises: Pick<DiskPromises, 'grantableBytes'>,
  ) {}

  async read(): Promise<HostFigures> {
    const { name: driver, capabilities } = this.driver;
    const { blocks, bavail, bsize } = await statfs(this.config.dataDir);
    const grantable = await this.promises.grantableBytes();
    return {
      name: this.config.hostName ?? hostname(),
      driver,
      version: this.#version,
      memMb: this.driver.memoryMb(),
      diskGb: { total: Math.floor((blocks * bsize) / GB), free: Math.floor((bavail * bsize) / GB) },
      ...(grantable === undefined ? {} : { grantableDiskGb: Math.floor(grantable / GB) }),
      limitsDisk: capabilities.limits.includes('diskBytes'),
      runtimeClasses: capabilities.runtimeClasses,
      desktops: await this.driver.hasDesktops(),
    };
  }
}

const ownVersion = (): string => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
};
