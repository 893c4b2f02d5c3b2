import { randomBytes } from 'node:crypto';
import {
  formatKey,
  type KeyView,
  type MintKey,
  type MintedKey,
  type RevokeKey,
} from '@berth/contracts/accounts';
import type { ProjectionRunner } from '@berth/event-store';
import { Clock, deriveId, isId } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { AccountCommandHandler } from '../account/account.command-handler.js';
import { KeyUsage } from '../authenticate/key-usage.js';
import { keyListProjection } from '../key-list/key-list.projection.js';
import { viewOfKey, type KeyState } from './key.js';
import { keyAlreadyMinted, keyNotFound } from './key.decider.js';
import { KeyStreams } from './key.streams.js';
import { KeyVault } from './key-vault.js';

@Injectable()
export class KeyCommandHandler {
  constructor(
    private readonly keys: KeyStreams,
    private readonly accounts: AccountCommandHandler,
    private readonly vault: KeyVault,
    private readonly usage: KeyUsage,
    @InjectProjection(keyListProjection) private readonly keyList: Pick<ProjectionRunner, 'waitFor'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes the log first, then the vault. If it is interrupted in between, the key is listed but not valid, and a retry of
   * the command gives it a secret. Once a secret is stored, the caller may have seen it, so from then on a retry is refused.
   */
  async mint(command: MintKey): Promise<MintedKey> {
    const { commandId, accountId, actor, name, scopes, holderScopes, expiresAt } = command;
    const keyId = deriveId('key', commandId);
    await this.accounts.requireOpen(accountId);
    const forFirstAccount = scopes.includes('operate') && (await this.accounts.isFirst(accountId));
    const holderExpiresAt = await this.expiryOf(command);
    const now = this.clock.now();
    const minting = { keyId, accountId, name, scopes, holderScopes, forFirstAccount, expiresAt } as const;
    const { state, position } = await this.keys.handle(
      keyId,
      { type: 'Mint', ...minting, holderExpiresAt, now },
      { commandId, accountId, actor },
    );
    // For a command that was handled before, this is the key of the first attempt.
    if (state.kind !== 'live' || state.key.accountId !== accountId) throw keyAlreadyMinted(keyId);
    const key = formatKey(randomBytes(32));
    if (!(await this.vault.store({ ...state.key, key }))) throw keyAlreadyMinted(keyId);
    await this.waitForList(position);
    return { ...viewOrThrow(state, null), key };
  }

  /**
   * Once this returns, the key is rejected everywhere, because authentication reads the vault. Writes the log first, then the
   * vault. If it is interrupted in between, the key is rejected once the key list shows the revocation.
   */
  async revoke({ commandId, accountId, actor, keyId, holderScopes }: RevokeKey): Promise<KeyView> {
    if (!isId('key', keyId)) throw keyNotFound();
    const holder = holderScopes === undefined ? null : { keyId: actor.id, scopes: holderScopes };
    const { state, position } = await this.keys.handle(
      keyId,
      { type: 'Revoke', keyId, accountId, holder, now: this.clock.now() },
      { commandId, accountId, actor },
    );
    if (state.kind !== 'revoked') throw keyNotFound();
    await this.vault.revoke(keyId, accountId, state.revokedAt);
    await this.waitForList(position);
    return viewOrThrow(state, await this.usage.lastUsedAt(keyId));
  }

  /** When the key that mints expires, if it is one of the same account. */
  private async expiryOf({ actor, accountId }: MintKey): Promise<string | null> {
    if (actor.kind !== 'key') return null;
    const { state } = await this.keys.load(actor.id);
    return state.kind !== 'unknown' && state.key.accountId === accountId ? state.key.expiresAt : null;
  }

  private async waitForList(position: bigint | null): Promise<void> {
    if (position !== null) await this.keyList.waitFor(position);
  }
}

const viewOrThrow = (state: KeyState, lastUsedAt: string | null): KeyView => {
  const view = viewOfKey(state, lastUsedAt);
  if (view === null) throw keyNotFound();
  return view;
};
