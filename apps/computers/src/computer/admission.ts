import { OwnerSuspensionQuery, type Owner } from '@berth/boxes';
import { Injectable } from '@nestjs/common';
import { ComputersAddon } from '../plan/computers-addon.js';
import type { LiveComputer } from './computer.js';

/** Checks whatever creates, wakes or uses a computer. */
@Injectable()
export class Admission {
  constructor(
    private readonly suspensions: OwnerSuspensionQuery,
    private readonly addon: ComputersAddon,
  ) {}

  /** Errors: forbidden `account_suspended`, `end_user_suspended`; payment_required `addon_required`. */
  async admit(owner: Owner): Promise<void> {
    await this.suspensions.requireActive(owner);
    await this.addon.require(owner.accountId);
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
