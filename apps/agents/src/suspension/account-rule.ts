import { Injectable } from '@nestjs/common';
import type { Act, AdmissionRule } from '../agent/admission-rule.js';
import type { Owner } from '../agent/owner.js';
import { AccountSuspensions } from './account-suspensions.js';

/** Nothing begins to use an agent of a suspended account. */
@Injectable()
export class AccountRule implements AdmissionRule {
  constructor(private readonly suspensions: AccountSuspensions) {}

  admit(_act: Act, { accountId }: Owner): Promise<void> {
    return this.suspensions.requireActive(accountId);
  }
}
