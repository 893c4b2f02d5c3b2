import { SCOPES, type MintedKey } from '@berth/contracts/accounts';
import { DomainError, newId, type Actor } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AccountCommandHandler } from '../account/account.command-handler.js';
import { KeyCommandHandler } from '../key/key.command-handler.js';
import { KeyVault } from '../key/key-vault.js';

/** The actor that the log records for a key that was minted through the recovery socket. */
const HOST_OPERATOR: Actor = { kind: 'system', id: 'host-operator' };

/** Mints a key for an operator who has access to the host but no key that works. */
@Injectable()
export class KeyRecovery {
  constructor(
    private readonly accounts: AccountCommandHandler,
    private readonly keys: KeyCommandHandler,
    private readonly vault: KeyVault,
    private readonly log: Logger,
  ) {}

  /**
   * Mints a key with every scope in the first account. Throws DomainError('unavailable') before the installation has an
   * account.
   */
  async recover(): Promise<MintedKey> {
    const accountId = await this.accounts.firstAccountId();
    if (accountId === null)
      throw new DomainError(
        'unavailable',
        'service_unavailable',
        'Berth is still starting. Try again shortly.',
      );
    return this.keys.mint({
      commandId: newId('cmd'),
      accountId,
      actor: HOST_OPERATOR,
      name: 'recovered',
      scopes: SCOPES,
      holderScopes: SCOPES,
      expiresAt: null,
    });
  }

  /**
   * Logs an error if no valid key of the first account has the scope `operate`: all such keys were revoked or have
   * expired, or the vault is new while the log is not, so that no key that the log lists can be used.
   */
  async reportLockout(): Promise<void> {
    const accountId = await this.accounts.firstAccountId();
    if (accountId === null || (await this.vault.holdsUsableKey(accountId, 'operate'))) return;
    this.log.error(
      { accountId },
      'No key with the scope operate works: each one is revoked or expired, or missing from the key vault. ' +
        'Mint one on this host: npm run berth -- keys recover',
    );
  }
}
