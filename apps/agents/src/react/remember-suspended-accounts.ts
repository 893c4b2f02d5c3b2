import { accountsEvents, type AccountStandingEvent } from '@berth/contracts/accounts';
import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { AccountSuspensions } from '../suspension/account-suspensions.js';

/** The reconciler puts the agents of a suspended account to sleep, also those that were about to wake. */
@ConsumeEvents({
  context: 'accounts',
  durable: 'agents__account-standing',
  events: [accountsEvents.accountSuspended, accountsEvents.accountResumed],
})
@Injectable()
export class RememberSuspendedAccounts implements EventReaction<AccountStandingEvent> {
  constructor(private readonly suspensions: AccountSuspensions) {}

  async handle(event: ReceivedEvent<AccountStandingEvent>, tx: SqlRunner): Promise<void> {
    await this.suspensions.remember(tx, {
      accountId: event.payload.accountId,
      suspended: event.name === accountsEvents.accountSuspended.name,
      position: event.position,
    });
  }

  /** Call it when the log was replaced or restored. */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.suspensions.forgetAfter(tx, position);
  }
}
