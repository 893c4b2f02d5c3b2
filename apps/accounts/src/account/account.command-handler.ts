import { DEFAULT_PLAN } from '@berth/contracts/accounts';
import { Clock } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { INSTALLATION_ID } from '../installation/installation.events.js';
import { InstallationStreams } from '../installation/installation.streams.js';
import { accountNotFound } from './account.decider.js';
import { AccountStreams } from './account.streams.js';

/** Until an operator renames it. */
const FIRST_ACCOUNT_NAME = 'default';

@Injectable()
export class AccountCommandHandler {
  constructor(
    private readonly accounts: AccountStreams,
    private readonly installation: InstallationStreams,
    private readonly clock: Clock,
  ) {}

  /** Opens the installation's first account; no effect if it is open already. */
  async open(accountId: string, commandId: string): Promise<void> {
    await this.accounts.handle(
      accountId,
      { type: 'Open', accountId, name: FIRST_ACCOUNT_NAME, plan: DEFAULT_PLAN, now: this.clock.now() },
      { commandId, accountId, actor: { kind: 'system', id: 'accounts' } },
    );
  }

  /** Throws not_found `account_not_found` unless the account is open. */
  async requireOpen(accountId: string): Promise<void> {
    const { state } = await this.accounts.load(accountId);
    if (state.kind !== 'open') throw accountNotFound();
  }

  /** Returns the account of the installation's first start; null until that start has finished. */
  async firstAccountId(): Promise<string | null> {
    const { state } = await this.installation.load(INSTALLATION_ID);
    return state.kind === 'finished' ? state.accountId : null;
  }

  async isFirst(accountId: string): Promise<boolean> {
    return (await this.firstAccountId()) === accountId;
  }
}
