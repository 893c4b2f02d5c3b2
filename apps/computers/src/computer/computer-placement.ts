import { agentsRequests } from '@berth/contracts/agents';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { Profile } from './computer.js';

/** Has `agents`, which knows the hosts, choose one for a new computer. */
@Injectable()
export class ComputerPlacement {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  /** Errors: unsupported `computers_unsupported`; unavailable `no_capacity`. */
  async place(computerId: string, { accountId, resources }: Profile): Promise<string> {
    const { memMb, diskGb } = resources;
    const request = { computerId, accountId, memMb, diskGb };
    return (await this.requester.request(agentsRequests.placeComputer, request)).host;
  }
}
