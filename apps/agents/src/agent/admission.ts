import { Injectable } from '@nestjs/common';
import { CapRule } from '../caps/cap-rule.js';
import { OwnerSuspensionQuery } from '@berth/boxes';
import type { Act, AdmittedWake, Wake } from './act.js';
import type { Owner } from './owner.js';

export { ownerOf, type Owner } from './owner.js';

/** Checks each act that would wake, start or create an agent. A call to a running agent is not checked. */
export abstract class Admission {
  /**
   * `wake`: the wake that the act begins. If it is admitted, it counts towards the wake limit, and is returned with the
   * policy by which it was admitted. A `check` counts nothing, and no wake limit refuses it.
   *
   * Errors: forbidden `account_suspended`, `end_user_suspended`; payment_required
   * `compute_cap_reached`; exhausted `wake_limit_reached`.
   */
  abstract admit(act: Act, owner: Owner, wake?: Wake): Promise<AdmittedWake | null>;
}

/** Checks suspensions and, where an act begins a start for an end user, the caps of its policy. */
@Injectable()
export class OwnerAdmission implements Admission {
  constructor(
    private readonly suspensions: OwnerSuspensionQuery,
    private readonly caps: CapRule,
  ) {}

  async admit(act: Act, { accountId, endUserId }: Owner, wake?: Wake): Promise<AdmittedWake | null> {
    // A call that joins a start begins none, so no cap applies to it.
    if (endUserId === null || act === 'use') {
      await this.suspensions.requireActive({ accountId, endUserId });
      return null;
    }
    if (act === 'check' && wake !== undefined) {
      await this.caps.check({ accountId, endUserId }, wake);
      return null;
    }
    const policy = await this.caps.admit({ accountId, endUserId }, wake);
    return wake === undefined ? null : { ...wake, policy };
  }
}
