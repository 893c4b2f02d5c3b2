import { randomBytes } from 'node:crypto';
import {
  formatKey,
  type KeyView,
  type MintKey,
  type MintedKey,
  type RevokeKey,
} from '@berth/contracts/accounts';
import type { CommandHandler, ProjectionRunner } from '@berth/event-store';
import { deriveId, isId, type Clock } from '@berth/kernel';
import type { AccountCommandHandler } from '../account/account.command-handler.js';
import type { KeyUsage } from '../authenticate/key-usage.js';
import { viewOfKey, type KeyEvent, type KeyState } from './key.js';
import { keyAlreadyMinted, keyNotFound, type KeyCommand } from './key.decider.js';
import type { KeyVault } from './key-vault.js';

export type KeyCommands = CommandHandler<KeyState, KeyCommand, KeyEvent>;

export interface KeyCommandHandlerParts {
  readonly keys: KeyCommands;
  readonly accounts: AccountCommandHandler;
  readonly vault: KeyVault;
  readonly usage: KeyUsage;
  readonly keyList: Pick<ProjectionRunner, 'waitFor'>;
  /** The installation's first account; null before the first start is over. */
  readonly firstAccountId: () => Promise<string | null>;
  readonly clock: Clock;
}

export class KeyCommandHandler {
  constructor(private readonly parts: KeyCommandHandlerParts) {}

  /**
   * Log first, vault second: cut off in between, the key is listed and opens nothing, and the same command sent again
   * gives it a secret after all. Once a secret is stored it may have been shown, so from then on the command is
   * refused.
   */
  async mint(command: MintKey): Promise<MintedKey> {
    const { keys, accounts, vault, clock } = this.parts;
    const { commandId, accountId, actor, name, scopes, holderScopes, expiresAt } = command;
    const keyId = deriveId('key', commandId);
    await accounts.requireOpen(accountId);
    const forFirstAccount = scopes.includes('operate') && (await this.parts.firstAccountId()) === accountId;
    const now = clock.now();
    const { state, position } = await keys.handle(
      keyId,
      { type: 'Mint', keyId, accountId, name, scopes, holderScopes, forFirstAccount, expiresAt, now },
      { commandId, accountId, actor },
    );
    // Met again by a retry, the stream's state is what was decided the first time.
    if (state.kind !== 'live' || state.key.accountId !== accountId) throw keyAlreadyMinted(keyId);
    const key = formatKey(randomBytes(32));
    if (!(await vault.store({ ...state.key, key }))) throw keyAlreadyMinted(keyId);
    await this.passed(position);
    return { ...viewOrThrow(state, null), key };
  }

  /**
   * The key is dead when this has answered, on every gateway: its row in the vault is what authentication goes by. Log
   * first here too: cut off in between, the projection brings the end about.
   */
  async revoke({ commandId, accountId, actor, keyId }: RevokeKey): Promise<KeyView> {
    if (!isId('key', keyId)) throw keyNotFound();
    const { keys, vault, usage, clock } = this.parts;
    const { state, position } = await keys.handle(
      keyId,
      { type: 'Revoke', keyId, accountId, now: clock.now() },
      { commandId, accountId, actor },
    );
    if (state.kind !== 'revoked') throw keyNotFound();
    await vault.revoke(keyId, accountId, state.revokedAt);
    await this.passed(position);
    return viewOrThrow(state, await usage.lastUsedAt(keyId));
  }

  private async passed(position: bigint | null): Promise<void> {
    if (position !== null) await this.parts.keyList.waitFor(position);
  }
}

const viewOrThrow = (state: KeyState, lastUsedAt: string | null): KeyView => {
  const view = viewOfKey(state, lastUsedAt);
  if (view === null) throw keyNotFound();
  return view;
};
