import { AccountSuspensions, RememberSuspensions } from '@berth/boxes';
import { accountsEvents, type AccountStandingEvent } from '@berth/contracts/accounts';
import { ConsumeEvents } from '@berth/service';
import { Injectable } from '@nestjs/common';

/** The reconciler then puts the computers of the account to sleep. */
@ConsumeEvents({
  context: 'accounts',
  durable: 'computers__account-standing',
  events: [accountsEvents.accountSuspended, accountsEvents.accountResumed],
})
@Injectable()
export class RememberSuspendedAccounts extends RememberSuspensions<AccountStandingEvent> {
  constructor(suspensions: AccountSuspensions) {
    super(suspensions, accountsEvents.accountSuspended, ({ accountId }) => accountId);
  }
}
