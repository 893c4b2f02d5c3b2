import type { ActivityKind } from '@berth/contracts/agents';
import { Injectable } from '@nestjs/common';
import { AccountSuspensions } from '../suspension/account-suspensions.js';
import type { LiveAgent } from './agent.js';

/** Checks every wake first: throws a `DomainError` when a policy or a suspension forbids it. */
export abstract class Admission {
  abstract admitWake(agent: LiveAgent, kind: ActivityKind): Promise<void>;
}

/** No agent of a suspended account wakes. */
@Injectable()
export class AccountAdmission implements Admission {
  constructor(private readonly suspensions: AccountSuspensions) {}

  admitWake(agent: LiveAgent): Promise<void> {
    return this.suspensions.requireActive(agent.profile.accountId);
  }
}
