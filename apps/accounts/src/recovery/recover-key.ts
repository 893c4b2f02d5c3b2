import { SCOPES, type MintedKey } from '@berth/contracts/accounts';
import { DomainError, newId, type Actor } from '@berth/kernel';
import type { Logger } from '@berth/telemetry';
import { firstAccountOf, type InstallationCommands } from '../installation/install.js';
import type { KeyCommandHandler } from '../key/key.command-handler.js';
import type { KeyVault } from '../key/key-vault.js';

export interface RecoveryParts {
  readonly installation: InstallationCommands;
  readonly keys: KeyCommandHandler;
  readonly vault: KeyVault;
}

/** Who acts when somebody with access to the host's data folder asks; the log and the audit show it. */
const HOST_OPERATOR: Actor = { kind: 'system', id: 'host-operator' };

/**
 * Mints a key with every scope in the first account, for an operator who has access to the host and no key that works.
 * Throws DomainError('unavailable') before the installation has an account.
 */
export const recoverKey = async ({ installation, keys }: RecoveryParts): Promise<MintedKey> => {
  const accountId = await firstAccountOf({ installation });
  if (accountId === null)
    throw new DomainError(
      'unavailable',
      'service_unavailable',
      'Berth is still starting. Try again shortly.',
    );
  return keys.mint({
    commandId: newId('cmd'),
    accountId,
    actor: HOST_OPERATOR,
    name: 'recovered',
    scopes: SCOPES,
    holderScopes: SCOPES,
    expiresAt: null,
  });
};

/**
 * The log may know an installation whose vault is lost: a new data folder on an existing log. Then every key in the list
 * is dead, and without a word the operator would search for the reason in vain.
 */
export const tellWhenLockedOut = async (
  { installation, vault }: Pick<RecoveryParts, 'installation' | 'vault'>,
  log: Logger,
): Promise<void> => {
  const accountId = await firstAccountOf({ installation });
  if (accountId === null || (await vault.holdsUsableKey(accountId, 'operate'))) return;
  log.error(
    { accountId },
    'No key with the scope operate works: the vault of this data folder does not hold any that the event log knows. ' +
      'Mint one on this host: npm run berth -- keys recover',
  );
};
