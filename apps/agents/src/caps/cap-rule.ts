import type { Policy } from '@berth/contracts/schema';
import { KeyedQueue } from '@berth/event-store';
import { Clock } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import type { Wake } from '../agent/act.js';
import type { OwnerWithEndUser } from '../agent/owner.js';
import { refuseSuspended } from '../suspension/owner-suspension.js';
import { refuseStart } from './caps.js';
import { WakeLedger, type Decided } from './wake-ledger.js';

/**
 * Admits the starts of an end user's agents. A wake is counted at the revision on which the decision is based, so that
 * concurrent wakes never exceed the limit, in whichever processes. In one process they queue up instead of colliding.
 */
@Injectable()
export class CapRule {
  readonly #queue = new KeyedQueue();

  constructor(
    private readonly ledger: WakeLedger,
    private readonly clock: Clock,
  ) {}

  /** Returns the policy in force. Errors: see `Admission.admit`. */
  async admit(owner: OwnerWithEndUser, wake?: Wake): Promise<Policy | null> {
    if (wake === undefined) return (await this.decide(owner, wake)).policy;
    return await this.#queue.run(owner.endUserId, async () => {
      for (;;) {
        const { verdict, isCounted, policy } = await this.decide(owner, wake);
        if (verdict !== 'fits' || isCounted) return policy;
        // Another process was faster.
      }
    });
  }

  private async decide(owner: OwnerWithEndUser, wake: Wake | undefined): Promise<Decided> {
    const now = this.clock.now();
    const decided = await this.ledger.decide(owner, wake, now);
    refuseSuspended(decided);
    refuseStart(decided, now);
    return decided;
  }
}
