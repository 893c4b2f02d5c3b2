import {
  accountsRequests,
  type AccountView,
  type GetAccount,
  type GetOwnAccount,
  type GetStanding,
  type MintFirstKey,
  type MintedKey,
  type OpenAccount,
  type OpenedAccount,
  type OwnAccountView,
  type PlansInUse,
  type UpdateAccount,
} from '@berth/contracts/accounts';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { PageRequest } from '@berth/contracts/schema';
import type { Page } from '@berth/kernel';
import { AccountListQuery } from '../account-list/account-list.query.js';
import { OwnAccountQuery } from '../account-list/own-account.query.js';
import { PlansInUseQuery } from '../account-list/plans-in-use.query.js';
import { AccountAdministration } from './account.administration.js';
import { AccountCommandHandler } from './account.command-handler.js';

@Controller()
export class AccountNatsController {
  constructor(
    private readonly administration: AccountAdministration,
    private readonly accounts: AccountListQuery,
    private readonly ownAccount: OwnAccountQuery,
    private readonly inUse: PlansInUseQuery,
    private readonly commands: AccountCommandHandler,
  ) {}

  @HandleRequest(accountsRequests.openAccount)
  open(@Payload() command: OpenAccount): Promise<OpenedAccount> {
    return this.administration.open(command);
  }

  @HandleRequest(accountsRequests.updateAccount)
  update(@Payload() command: UpdateAccount): Promise<AccountView> {
    return this.administration.update(command);
  }

  @HandleRequest(accountsRequests.mintFirstKey)
  mintFirstKey(@Payload() command: MintFirstKey): Promise<MintedKey> {
    return this.administration.mintFirstKey(command);
  }

  @HandleRequest(accountsRequests.getAccount)
  get(@Payload() { id }: GetAccount): Promise<AccountView> {
    return this.accounts.get(id);
  }

  @HandleRequest(accountsRequests.ownAccount)
  own(@Payload() request: GetOwnAccount): Promise<OwnAccountView> {
    return this.ownAccount.run(request);
  }

  @HandleRequest(accountsRequests.plansInUse)
  async plansInUse(): Promise<PlansInUse> {
    return { planIds: await this.inUse.run() };
  }

  @HandleRequest(accountsRequests.isFirst)
  async isFirst(@Payload() { accountId }: GetStanding): Promise<{ readonly isFirst: boolean }> {
    return { isFirst: await this.commands.isFirst(accountId) };
  }

  @HandleRequest(accountsRequests.listAccounts)
  list(@Payload() request: PageRequest): Promise<Page<AccountView>> {
    return this.accounts.list(request);
  }
}
