import type { GetOwnAccount, OwnAccountView } from '@berth/contracts/accounts';
import { llmRequests } from '@berth/contracts/llm';
import { showCents } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { viewOfKey } from '../key/key.js';
import { keyNotFound } from '../key/key.decider.js';
import { KeyStreams } from '../key/key.streams.js';
import { AccountListQuery } from './account-list.query.js';

/** The account of the key that sends a request, and the key. */
@Injectable()
export class OwnAccountQuery {
  constructor(
    private readonly accounts: AccountListQuery,
    private readonly keys: KeyStreams,
    private readonly requester: Requester,
  ) {}

  /** Errors: not_found `account_not_found`, `key_not_found`. */
  async run({ accountId, keyId }: GetOwnAccount): Promise<OwnAccountView> {
    const { id, name, planId } = await this.accounts.get(accountId);
    const { state } = await this.keys.load(keyId);
    const key = viewOfKey(state, null);
    if (key?.accountId !== accountId) throw keyNotFound();
    const { balance } = await this.requester.request(llmRequests.balance, { accountId });
    const balanceCents = balance === null ? null : showCents(BigInt(balance));
    return {
      id,
      name,
      plan: planId,
      credits: { balanceCents },
      key: { id: key.id, name: key.name, scopes: key.scopes },
    };
  }
}
