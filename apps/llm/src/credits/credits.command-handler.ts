import { accountsRequests } from '@berth/contracts/accounts';
import type { Balance, GrantCredits } from '@berth/contracts/llm';
import { Clock, isoTime, MILLIONTHS_PER_CENT } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { AccountLedgerStreams } from '../account-ledger/account-ledger.streams.js';
import { CountedCredits } from './counted-credits.js';

@Injectable()
export class CreditsCommandHandler {
  constructor(
    private readonly ledgers: AccountLedgerStreams,
    private readonly counted: CountedCredits,
    private readonly requester: Requester,
    private readonly clock: Clock,
  ) {}

  /** Errors: not_found `account_not_found`. */
  async grant({ id, cents, note, ...origin }: GrantCredits): Promise<Balance> {
    await this.requester.request(accountsRequests.getAccount, { id });
    const amount = BigInt(cents) * MILLIONTHS_PER_CENT;
    const grant = { type: 'Grant', accountId: id, amount, note, at: isoTime(this.clock.now()) } as const;
    // The event names the account of the operator, to whom the audit shows it.
    const { state } = await this.ledgers.handle(id, [grant], origin);
    return { balance: state.balance };
  }

  async balance(accountId: string): Promise<Balance> {
    const { state } = await this.ledgers.load(accountId);
    if (state.balance !== null) return { balance: state.balance };
    return { balance: (await this.counted.fromStart(accountId)) ? '0' : null };
  }
}
