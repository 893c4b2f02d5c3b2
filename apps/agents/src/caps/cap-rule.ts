import { KeyedQueue } from '@berth/event-store';
import { Clock } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import type { Wake } from '../agent/act.js';
import type { OwnerWithEndUser } from '../agent/owner.js';
import { refuseSuspended } from '../suspension/owner-suspension.js';
import { refuseStart } from './caps.js';
import { WakeLedger } from './wake-ledger.js';

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

  /** Errors: see `Admission.admit`. */
  async admit(owner: OwnerWithEndUser, wake?: Wake): Promise<void> {
    if (wake === undefined) await this.try(owner, wake);
    else
      await this.#queue.run(owner.endUserId, async () => {
        while (!(await this.try(owner, wake)));
      });
  }

  /** Returns false if another process was faster, and the wake has to be decided again. */
  private async try(owner: OwnerWithEndUser, wake: Wake | undefined): Promise<boolean> {
    const now = this.clock.now();
    const admitted = await this.ledger.admit(owner, wake, now);
    refuseSuspended(admitted);
    refuseStart(admitted, now);
    return admitted.verdict !== 'fits' || admitted.isCounted;
  }
}
