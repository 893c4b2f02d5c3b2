import type { ActivityKind } from '@berth/contracts/agents';
import { Injectable } from '@nestjs/common';
import type { LiveAgent } from './agent.js';

/** Checks every wake first: throws a `DomainError` when an end user's policy or suspension forbids it. */
export abstract class Admission {
  abstract admitWake(agent: LiveAgent, kind: ActivityKind): Promise<void>;
}

/** No policy applies to an account's own agents. */
@Injectable()
export class UnrestrictedAdmission implements Admission {
  admitWake(): Promise<void> {
    return Promise.resolve();
  }
}
