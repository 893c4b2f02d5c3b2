import type { HostView } from '@berth/contracts/runtime';
import { DiskGuard } from '../disk/disk-guard.js';
import { HostIdentity } from '@berth/service';
import { Inject, Injectable } from '@nestjs/common';
import { HostedAgents } from '../agent/hosted-agents.js';
import { Driver } from '../driver/driver.js';
import { HostFigureReader } from './host-figures.js';
import { HostLog } from './host-log.js';

/** Describes this host to the services that place agents. */
@Injectable()
export class HostDescription {
  constructor(
    private readonly host: HostIdentity,
    @Inject(Driver) private readonly driver: Pick<Driver, 'capabilities'>,
    @Inject(HostedAgents) private readonly agents: Pick<HostedAgents, 'observed'>,
    @Inject(HostFigureReader) private readonly figures: Pick<HostFigureReader, 'read'>,
    @Inject(DiskGuard) private readonly disk: Pick<DiskGuard, 'space'>,
    private readonly log: HostLog,
  ) {}

  async read(): Promise<HostView> {
    const { driver, memMb, diskGb, grantableDiskGb, limitsDisk, desktops } = await this.figures.read();
    return {
      host: this.host.id,
      driver,
      images: this.driver.capabilities.sources.includes('image'),
      freeMemMb: memMb.free,
      agents: this.agents.observed.length,
      logId: this.log.id,
      diskGb,
      disk: this.disk.space().state,
      ...(grantableDiskGb === undefined ? {} : { grantableDiskGb }),
      limitsDisk,
      desktops: desktops === true,
    };
  }
}
