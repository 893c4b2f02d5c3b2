import { HostHearing, LostHostsTimer } from '@berth/boxes';
import { RunOnOneInstance } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { HostDirectory } from '../host/host-directory.js';
import { AgentTimeouts } from './agent-timeouts.js';
import { DueAgentsQuery } from './due-agents.query.js';

/** Fails the agents of lost hosts. */
@Injectable()
@RunOnOneInstance({ name: 'lost-hosts' })
export class LostHosts extends LostHostsTimer {
  constructor(
    hearing: HostHearing,
    hosts: HostDirectory,
    due: DueAgentsQuery,
    timeouts: AgentTimeouts,
    log: Logger,
  ) {
    const boxes = {
      seen: () => hosts.seen(),
      onHosts: due.onHosts.bind(due),
      lose: (agentId: string) => timeouts.loseHost(agentId),
    };
    super(hearing, boxes, log);
  }
}
