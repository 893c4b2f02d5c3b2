import { HostHearing, LostHostsTimer } from '@berth/boxes';
import { RunOnOneInstance } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ComputerHostDirectory } from '../host/computer-host-directory.js';
import { ComputerTimeouts } from './computer-timeouts.js';
import { DueComputersQuery } from './due-computers.query.js';

/** Fails the computers of lost hosts. */
@Injectable()
@RunOnOneInstance({ name: 'lost-hosts' })
export class LostHosts extends LostHostsTimer {
  constructor(
    hearing: HostHearing,
    hosts: ComputerHostDirectory,
    due: DueComputersQuery,
    timeouts: ComputerTimeouts,
    log: Logger,
  ) {
    const boxes = {
      seen: () => hosts.seen(),
      onHosts: due.onHosts.bind(due),
      lose: (computerId: string) => timeouts.failWithHost(computerId, 'LoseHost'),
    };
    super(hearing, boxes, log);
  }
}
