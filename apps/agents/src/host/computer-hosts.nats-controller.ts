import { agentsRequests, type PlaceComputer } from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller, Inject } from '@nestjs/common';
import { HostDirectory } from './host-directory.js';
import { Placement } from './placement.js';

/** Hosts, for computers. */
@Controller()
export class ComputerHostsNatsController {
  constructor(
    @Inject(Placement) private readonly placement: Pick<Placement, 'place'>,
    @Inject(HostDirectory) private readonly hosts: Pick<HostDirectory, 'removed'>,
  ) {}

  @HandleRequest(agentsRequests.placeComputer)
  async place({ computerId, ...computer }: PlaceComputer): Promise<{ readonly host: string }> {
    return { host: await this.placement.place({ ...computer, agentId: computerId, attempt: 0 }) };
  }

  @HandleRequest(agentsRequests.removedHosts)
  async removed(): Promise<{ readonly hosts: readonly string[] }> {
    return { hosts: await this.hosts.removed() };
  }
}
