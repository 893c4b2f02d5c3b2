import { Injectable } from '@nestjs/common';
import { AccountSuspensions } from '../suspension/account-suspensions.js';
import { EndUserSuspensions } from '../suspension/end-user-suspensions.js';
import type { Owner } from './owner.js';

export { ownerOf, type Owner } from './owner.js';

/** What somebody wants to do with an agent. `use`: a call that joins a start, or that finds the agent not running. */
export type Act = 'use' | 'wake' | 'start' | 'restart' | 'create' | 'deploy';

/** Forbids acts: throws a `DomainError` when a suspension or a policy forbids this one. */
export abstract class AdmissionRule {
  abstract admit(act: Act, owner: Owner): Promise<void>;
}

/** Nothing begins to use an agent of a suspended account. */
@Injectable()
export class AccountRule implements AdmissionRule {
  constructor(private readonly suspensions: AccountSuspensions) {}

  admit(_act: Act, { accountId }: Owner): Promise<void> {
    return this.suspensions.requireActive(accountId);
  }
}

/** Nothing begins to use an agent of a suspended end user. */
@Injectable()
export class EndUserRule implements AdmissionRule {
  constructor(private readonly suspensions: EndUserSuspensions) {}

  async admit(_act: Act, { endUserId }: Owner): Promise<void> {
    if (endUserId !== null) await this.suspensions.requireActive(endUserId);
  }
}

/** Checks everything first that would wake, start or create an agent. Whatever reaches a running agent asks nobody. */
export abstract class Admission {
  /** Errors: forbidden `account_suspended`, `end_user_suspended`. */
  abstract admit(act: Act, owner: Owner): Promise<void>;
}

/** The first rule that forbids the act decides. */
@Injectable()
export class RuledAdmission implements Admission {
  readonly #rules: readonly AdmissionRule[];

  constructor(accounts: AccountRule, endUsers: EndUserRule) {
    this.#rules = [accounts, endUsers];
  }

  async admit(act: Act, owner: Owner): Promise<void> {
    for (const rule of this.#rules) await rule.admit(act, owner);
  }
}
