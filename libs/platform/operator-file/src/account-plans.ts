import { accountsRequests } from '@berth/contracts/accounts';
import { DomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { OperatorSettings } from './operator-settings.js';
import type { Addon, Plan } from './plan.js';

/**
 * What the plans of accounts allow. A plan is read every time, so that a change of it holds once it has returned, but not
 * while all plans say the same. Errors: unavailable `service_unavailable` while the plan cannot be read.
 */
@Injectable()
export class AccountPlans {
  constructor(
    @Inject(OperatorSettings) private readonly operator: Pick<OperatorSettings, 'current'>,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** null: no limit. */
  maxAgents(accountId: string): Promise<number | null> {
    return this.#read(accountId, (plan) => plan.maxAgents);
  }

  hasAddon(accountId: string, addon: Addon): Promise<boolean> {
    return this.#read(accountId, ({ addons }) => addons.includes(addon));
  }

  async #read<T>(accountId: string, member: (plan: Plan) => T): Promise<T> {
    const { plans } = this.operator.current;
    const [value, ...others] = new Set(plans.map(member));
    if (value !== undefined && others.length === 0) return value;
    const { planId } = await this.requester.request(accountsRequests.getAccount, { id: accountId });
    const plan = plans.find(({ id }) => id === planId);
    if (plan === undefined) throw new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');
    return member(plan);
  }
}
