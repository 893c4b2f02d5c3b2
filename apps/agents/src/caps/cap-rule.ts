import type { Policy } from '@berth/contracts/schema';
import { KeyedQueue } from '@berth/event-store';
import { Clock } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import type { Wake } from '../agent/act.js';
import type { OwnerWithEndUser } from '../agent/owner.js';
import { refuseSuspended } from '@berth/boxes';
import { refuseStart } from './caps.js';
import { CheckedWakes } from './checked-wakes.js';
import { WakeRooms } from './wake-rooms.js';
import { WakeLedger, type CountWhen, type Decided } from './wake-ledger.js';

/**
 * Admits the starts of an end user's agents. A wake is counted at the revision on which the decision is based, so that
 * concurrent wakes never exceed the limit, in whichever processes. In one process they queue up instead of colliding.
 */
@Injectable()
export class CapRule {
  readonly #queue = new KeyedQueue();
  readonly #checked = new CheckedWakes();
  readonly #rooms = new WakeRooms();

  constructor(
    private readonly ledger: WakeLedger,
    private readonly clock: Clock,
  ) {}

  /** Returns the policy in force. Errors: see `Admission.admit`. */
  async admit(owner: OwnerWithEndUser, wake?: Wake): Promise<Policy | null> {
    if (wake === undefined) return (await this.decide(owner, wake)).policy;
    const checked = this.#checked.take(wake, this.clock.now());
    if (checked !== undefined && (await checked.isAdmitted)) return checked.policy;
    return this.#queue.run(owner.endUserId, () => this.decideAndCount(owner, wake));
  }

  /**
   * Decides on a wake that the same attempt of a command begins in a moment. Far from the limit it also begins to count the
   * wake, so that `admit` need not. A wake limit refuses the wake, not the check. Errors: those of `admit`, without
   * `wake_limit_reached`.
   */
  async check(owner: OwnerWithEndUser, wake: Wake): Promise<void> {
    const { policy } = await this.decide(owner, undefined);
    // A wake whose count failed is decided when it begins.
    const isAdmitted = this.countAhead(owner, wake, policy).catch(() => false);
    this.#checked.put(wake, { policy, isAdmitted }, this.clock.now());
  }

  /** Returns whether the wake may begin without another count. */
  private async countAhead(owner: OwnerWithEndUser, wake: Wake, policy: Policy | null): Promise<boolean> {
    const limit = policy?.wakes_per_hour;
    if (limit === undefined) return true;
    if (wake.attempt === undefined) return false;
    return this.#queue.run(owner.endUserId, async () => {
      if (!this.#rooms.isUsedUp(owner.endUserId, limit)) return this.countInRoom(owner, wake, limit);
      const { counted } = await this.decide(owner, wake, 'in_room');
      return counted !== null;
    });
  }

  private async countInRoom({ endUserId }: OwnerWithEndUser, wake: Wake, limit: number): Promise<boolean> {
    const now = this.clock.now();
    const last = this.#rooms.lastOf(endUserId, limit, now);
    if (last === undefined) return false;
    const counted = await this.ledger.count(endUserId, wake, last, now);
    if (counted !== undefined) this.#rooms.counted(endUserId, counted, now);
    return counted !== undefined;
  }

  private async decideAndCount(owner: OwnerWithEndUser, wake: Wake): Promise<Policy | null> {
    for (;;) {
      const { verdict, policy, counted } = await this.decide(owner, wake);
      if (verdict !== 'fits' || counted !== null) return policy;
      // Another process was faster.
    }
  }

  private async decide(
    owner: OwnerWithEndUser,
    wake: Wake | undefined,
    count: CountWhen = 'fits',
  ): Promise<Decided> {
    const now = this.clock.now();
    const decided = await this.ledger.decide(owner, wake, now, count);
    refuseSuspended(decided);
    refuseStart(decided, now);
    const { policy, counted, hasRoom } = decided;
    if (!hasRoom && wake !== undefined) this.#rooms.forget(owner.endUserId);
    if (hasRoom && counted !== null)
      this.#rooms.found(owner.endUserId, policy?.wakes_per_hour ?? 0, counted, now);
    return decided;
  }
}
