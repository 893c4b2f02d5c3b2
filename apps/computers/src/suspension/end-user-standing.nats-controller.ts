import { EndUserSuspensions } from '@berth/boxes';
import type { SetEndUserStanding } from '@berth/contracts/agents';
import { computersRequests } from '@berth/contracts/computers';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ComputerListQuery } from '../computer-list/computer-list.query.js';
import { ComputerTimeouts } from '../timers/computer-timeouts.js';

/** Puts the computers of an end user to sleep as soon as it is suspended; the reconciler does the same, a moment later. */
@Controller()
export class EndUserStandingNatsController {
  constructor(
    private readonly suspensions: EndUserSuspensions,
    private readonly list: ComputerListQuery,
    private readonly timeouts: ComputerTimeouts,
  ) {}

  /** Returns once no computer of a suspended end user is running according to the log; their hosts stop them afterwards. */
  @HandleRequest(computersRequests.setEndUserStanding)
  async set({ endUserId, suspended, position }: SetEndUserStanding): Promise<Record<string, never>> {
    await this.suspensions.remember({ id: endUserId, suspended, position: BigInt(position) });
    const ids = suspended ? await this.list.ofEndUser(endUserId) : [];
    await Promise.all(ids.map((id) => this.timeouts.beginSuspension(id)));
    return {};
  }
}
