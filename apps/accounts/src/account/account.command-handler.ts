import type { CommandHandler } from '@berth/event-store';
import { DomainError, type Clock } from '@berth/kernel';
import type { AccountEvent, AccountState } from './account.js';
import type { OpenAccount } from './account.decider.js';

export type AccountCommands = CommandHandler<AccountState, OpenAccount, AccountEvent>;

/** The plan of accounts that nobody chose one for. It limits nothing. */
const DEFAULT_PLAN = 'default';

export class AccountCommandHandler {
  constructor(
    private readonly accounts: AccountCommands,
    private readonly clock: Clock,
  ) {}

  /** Opens the account; one that is open stays as it is. */
  async open(accountId: string, commandId: string): Promise<void> {
    await this.accounts.handle(
      accountId,
      { accountId, plan: DEFAULT_PLAN, now: this.clock.now() },
      { commandId, accountId, actor: { kind: 'system', id: 'accounts' } },
    );
  }

  /** Throws not_found `account_not_found` unless the account is open. */
  async requireOpen(accountId: string): Promise<void> {
    const { state } = await this.accounts.load(accountId);
    if (state.kind !== 'open') throw new DomainError('not_found', 'account_not_found', 'No such account.');
  }
}
