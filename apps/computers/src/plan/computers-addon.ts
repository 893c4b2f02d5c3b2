import { accountsRequests } from '@berth/contracts/accounts';
import { DomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { OperatorSettings } from '@berth/operator-file';
import { Inject, Injectable } from '@nestjs/common';

/** Whether the plans of accounts include computers. */
@Injectable()
export class ComputersAddon {
  constructor(
    @Inject(OperatorSettings) private readonly operator: Pick<OperatorSettings, 'current'>,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /**
   * The plan is read every time, so that a change of it holds once it has returned. Errors: payment_required
   * `addon_required`; unavailable `service_unavailable` while the plan cannot be read.
   */
  async require(accountId: string): Promise<void> {
    const { plans } = this.operator.current;
    if (plans.every(({ addons }) => addons.includes('computers'))) return;
    const { planId } = await this.requester.request(accountsRequests.getAccount, { id: accountId });
    const plan = plans.find(({ id }) => id === planId);
    if (plan === undefined) throw new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');
    if (!plan.addons.includes('computers'))
      throw new DomainError(
        'payment_required',
        'addon_required',
        'The plan of the account does not include computers.',
      );
  }
}
