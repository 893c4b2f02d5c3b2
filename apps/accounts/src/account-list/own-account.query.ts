import type { GetOwnAccount, OwnAccountView } from '@berth/contracts/accounts';
import { Injectable } from '@nestjs/common';
import { AccountCommandHandler } from '../account/account.command-handler.js';
import { viewOfKey } from '../key/key.js';
import { keyNotFound } from '../key/key.decider.js';
import { KeyStreams } from '../key/key.streams.js';
import { AccountListQuery } from './account-list.query.js';

/** The account of the key that sends a request, and the key. */
@Injectable()
export class OwnAccountQuery {
  constructor(
    private readonly accounts: AccountListQuery,
    private readonly commands: AccountCommandHandler,
    private readonly keys: KeyStreams,
  ) {}

  /** Errors: not_found `account_not_found`, `key_not_found`. */
  async run({ accountId, keyId }: GetOwnAccount): Promise<OwnAccountView> {
    const { id, name, planId } = await this.accounts.get(accountId);
    const { state } = await this.keys.load(keyId);
    const key = viewOfKey(state, null);
    if (key?.accountId !== accountId) throw keyNotFound();
    // No credits are counted for the first account; every other one begins without any.
    const balanceCents = (await this.commands.isFirst(accountId)) ? null : 0;
    return {
      id,
      name,
      plan: planId,
      credits: { balanceCents },
      key: { id: key.id, name: key.name, scopes: key.scopes },
    };
  }
}
