import { SCOPES, type MintedKey } from '@berth/contracts/accounts';
import { DomainError, newId, type Actor } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AccountCommandHandler } from '../account/account.command-handler.js';
import { KeyCommandHandler } from '../key/key.command-handler.js';
import { KeyVault } from '../key/key-vault.js';

/** The actor that the log and the audit show for a request from the host's data folder. */
const HOST_OPERATOR: Actor = { kind: 'system', id: 'host-operator' };

/** Mints a key for an operator with access to the host when no key works any more. */
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
   * Logs an error when no key can operate the installation: with a new data folder on an existing log, the vault is
   * lost and every listed key is dead.
   */
  async reportLockout(): Promise<void> {
    const accountId = await this.accounts.firstAccountId();
    if (accountId === null || (await this.vault.holdsUsableKey(accountId, 'operate'))) return;
    this.log.error(
      { accountId },
      'No key with the scope operate works: the vault of this data folder does not hold any that the event log knows. ' +
        'Mint one on this host: npm run berth -- keys recover',
    );
  }
}
