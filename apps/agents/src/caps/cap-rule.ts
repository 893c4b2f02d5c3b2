import { KeyedQueue } from '@berth/event-store';
import { Clock } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import type { Act, AdmissionRule, Wake } from '../agent/admission-rule.js';
import type { Owner } from '../agent/owner.js';
import { decideStart } from './caps.js';
import { WakeLedger } from './wake-ledger.js';

/**
 * The caps of the policy in force. A wake is counted when it is admitted, at the revision on which the decision is based, so
 * that concurrent wakes never exceed the limit, in whichever processes. In one process they queue up instead of colliding.
 */
@Injectable()
export class CapRule implements AdmissionRule {
  readonly #queue = new KeyedQueue();

  constructor(
    private readonly ledger: WakeLedger,
    private readonly clock: Clock,
  ) {}

  /** Errors: payment_required `compute_cap_reached`; exhausted `wake_limit_reached`. */
  async admit(act: Act, { accountId, endUserId }: Owner, wake?: Wake): Promise<void> {
    // A call that joins a start begins none.
    if (endUserId === null || act === 'use') return;
    const owner = { accountId, endUserId };
    if (wake === undefined) await this.try(owner, wake);
    else
      await this.#queue.run(endUserId, async () => {
        while (!(await this.try(owner, wake)));
      });
  }

  /** Returns false if another process was faster, and the wake has to be decided again. */
  private async try(
    owner: { readonly accountId: string; readonly endUserId: string },
    wake: Wake | undefined,
  ): Promise<boolean> {
    const now = this.clock.now();
    const { revision, ...facts } = await this.ledger.read(owner, wake, now);
    const counts = decideStart(facts, wake !== undefined, now);
    return !counts || wake === undefined || this.ledger.admit(owner.endUserId, wake, revision, now);
  }
}
