import { accountsEvents, type AccountStandingEvent } from '@berth/contracts/accounts';
import { ConsumeEvents } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { AccountSuspensions, RememberSuspensions } from '@berth/boxes';

@ConsumeEvents({
  context: 'accounts',
  durable: 'agents__account-standing',
  events: [accountsEvents.accountSuspended, accountsEvents.accountResumed],
})
@Injectable()
export class RememberSuspendedAccounts extends RememberSuspensions<AccountStandingEvent> {
  constructor(suspensions: AccountSuspensions) {
    super(suspensions, accountsEvents.accountSuspended, ({ accountId }) => accountId);
  }
}
