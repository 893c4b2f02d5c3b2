import type { SetEndUserStanding } from '@berth/contracts/agents';
import { Injectable } from '@nestjs/common';
import { AgentTimeouts } from '../timers/agent-timeouts.js';
import { DueAgentsQuery } from '../timers/due-agents.query.js';
import { EndUserSuspensions } from '@berth/boxes';

const AT_ONCE = 50;

/** Puts the agents of an end user to sleep as soon as it is suspended; the reconciler does the same, a moment later. */
@Injectable()
export class EndUserStandingHandler {
  constructor(
    private readonly suspensions: EndUserSuspensions,
    private readonly due: DueAgentsQuery,
    private readonly timeouts: AgentTimeouts,
  ) {}

  /** Returns once no agent of a suspended end user is running according to the log; their hosts stop them afterwards. */
  async handle({ endUserId, suspended, position }: SetEndUserStanding): Promise<Record<string, never>> {
    await this.suspensions.remember({ id: endUserId, suspended, position: BigInt(position) });
    const ids = suspended ? await this.due.ofEndUser(endUserId) : [];
    for (let from = 0; from < ids.length; from += AT_ONCE)
      await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => this.timeouts.beginSuspension(id)));
    return {};
  }
}
