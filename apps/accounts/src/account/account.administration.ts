import {
  DEFAULT_PLAN,
  FIRST_KEY_SCOPES,
  type AccountView,
  type MintFirstKey,
  type MintedKey,
  type OpenAccount,
  type OpenedAccount,
  type UpdateAccount,
} from '@berth/contracts/accounts';
import { Clock, deriveId, isId, stepOf, type Actor, type CommandEnvelope } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { KeyCommandHandler } from '../key/key.command-handler.js';
import { AccountStanding } from '../standing/account-standing.js';
import { AccountCommandHandler } from './account.command-handler.js';
import { accountNotFound, type AccountCommand } from './account.decider.js';
import type { OpenAccountState } from './account.js';
import { AccountStreams } from './account.streams.js';
import { Plans } from './plans.js';

/** The new account's own log entries do not name the operator's key, which belongs to another account. */
const OPERATOR: Actor = { kind: 'system', id: 'operator' };

/**
 * What operators do with accounts. The events carry the account of the operator in their metadata, because they are the
 * operator's acts; only the first keys belong to the new account.
 */
@Injectable()
export class AccountAdministration {
  constructor(
    private readonly streams: AccountStreams,
    private readonly accounts: AccountCommandHandler,
    private readonly keys: KeyCommandHandler,
    private readonly standing: AccountStanding,
    private readonly plans: Plans,
    private readonly clock: Clock,
  ) {}

  /** Opens an account and mints its first key. Both ids derive from the command, so a retry continues the first attempt. */
  async open(command: OpenAccount): Promise<OpenedAccount> {
    const { name, planId } = command;
    const plan = this.plans.known(planId ?? DEFAULT_PLAN);
    const accountId = deriveId('acc', command.commandId);
    const opening = { type: 'Open', accountId, name, plan, now: this.clock.now() } as const;
    const account = await this.handle(accountId, opening, command);
    const { key, id } = await this.mint(accountId, command.commandId);
    return { ...account, key, keyId: id };
  }

  /** Once a suspension returns, every gateway rejects the credentials of the account. */
  async update(command: UpdateAccount): Promise<AccountView> {
    const { id, name, planId, suspended } = command;
    if (!isId('acc', id)) throw accountNotFound();
    const plan = planId === null ? null : this.plans.known(planId);
    const isFirst = await this.accounts.isFirst(id);
    const change = { type: 'Update', name, plan, suspended, isFirst, now: this.clock.now() } as const;
    return this.handle(id, change, command);
  }

  /** Mints another first key, for one that was lost. */
  async mintFirstKey({ id, commandId }: MintFirstKey): Promise<MintedKey> {
    if (!isId('acc', id)) throw accountNotFound();
    return this.mint(id, commandId);
  }

  private async handle(id: string, command: AccountCommand, origin: CommandEnvelope): Promise<AccountView> {
    const { commandId, accountId, actor } = stepOf(origin, 'account');
    const handled = await this.streams.handle(id, command, { commandId, accountId, actor });
    const { state, revision } = handled;
    if (state.kind !== 'open' || revision === null) throw accountNotFound();
    await this.standing.record({ accountId: id, suspended: state.suspendedAt !== null, revision });
    await this.standing.waitForList(handled.position);
    return viewOf(state);
  }

  private mint(accountId: string, commandId: string): Promise<MintedKey> {
    return this.keys.mint({
      commandId,
      accountId,
      actor: OPERATOR,
      name: 'first key',
      scopes: FIRST_KEY_SCOPES,
      holderScopes: FIRST_KEY_SCOPES,
      expiresAt: null,
    });
  }
}

const viewOf = ({ accountId, name, plan, openedAt, suspendedAt }: OpenAccountState): AccountView => ({
  id: accountId,
  name,
  planId: plan,
  suspended: suspendedAt !== null,
  suspendedAt,
  createdAt: openedAt,
});
