import { OwnerSuspensionQuery, type Owner } from '@berth/boxes';
import { DomainError } from '@berth/kernel';
import { AccountPlans } from '@berth/operator-file';
import { Injectable } from '@nestjs/common';
import type { LiveComputer } from './computer.js';

/** Checks whatever creates, wakes or uses a computer. */
@Injectable()
export class Admission {
  constructor(
    private readonly suspensions: OwnerSuspensionQuery,
    private readonly plans: AccountPlans,
  ) {}

  /** Errors: forbidden `account_suspended`, `end_user_suspended`; payment_required `addon_required`. */
  async admit(owner: Owner): Promise<void> {
    await this.suspensions.requireActive(owner);
    if (!(await this.plans.hasAddon(owner.accountId, 'computers')))
      throw new DomainError(
        'payment_required',
        'addon_required',
        'The plan of the account does not include computers.',
      );
  }

  /** Errors: forbidden `account_suspended`, `end_user_suspended`. */
  requireActive(owner: Owner): Promise<void> {
    return this.suspensions.requireActive(owner);
  }
}

export const ownerOf = ({ profile }: LiveComputer): Owner => ({
  accountId: profile.accountId,
  endUserId: profile.personal.endUserId,
});
