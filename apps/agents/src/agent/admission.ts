import { Injectable } from '@nestjs/common';
import { CapRule } from '../caps/cap-rule.js';
import { AccountRule } from '../suspension/account-rule.js';
import { EndUserRule } from '../suspension/end-user-rule.js';
import type { Act, AdmissionRule, Wake } from './admission-rule.js';
import type { Owner } from './owner.js';

export { ownerOf, type Owner } from './owner.js';

/** Checks each act that would wake, start or create an agent. A call to a running agent is not checked. */
export abstract class Admission {
  /**
   * `wake`: the wake that begins if the act is admitted; it then counts towards the wake limit. Errors: forbidden
   * `account_suspended`, `end_user_suspended`; payment_required `compute_cap_reached`; exhausted `wake_limit_reached`.
   */
  abstract admit(act: Act, owner: Owner, wake?: Wake): Promise<void>;
}

/** Applies the rules in order; the first one that refuses the act throws. */
@Injectable()
export class RuleBasedAdmission implements Admission {
  readonly #rules: readonly AdmissionRule[];

  constructor(accounts: AccountRule, endUsers: EndUserRule, caps: CapRule) {
    // `caps` counts each wake that it admits, so it runs last: a wake that another rule refuses must not count.
    this.#rules = [accounts, endUsers, caps];
  }

  async admit(act: Act, owner: Owner, wake?: Wake): Promise<void> {
    for (const rule of this.#rules) await rule.admit(act, owner, wake);
  }
}
