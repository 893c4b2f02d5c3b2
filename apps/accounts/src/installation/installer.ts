import { randomBytes } from 'node:crypto';
import { SCOPES, formatKey } from '@berth/contracts/accounts';
import { Clock, newId, type Actor } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AccountCommandHandler } from '../account/account.command-handler.js';
import { KeyStreams } from '../key/key.streams.js';
import { KeyVault } from '../key/key-vault.js';
import { createKeyFile, readKeyFile, restrictToOwner, sweepDrafts } from './bootstrap-key-file.js';
import { INSTALLATION_ID } from './installation.events.js';
import { InstallationStreams } from './installation.streams.js';

const SYSTEM: Actor = { kind: 'system', id: 'accounts' };

/** Opens the first account of an installation, with its first key. */
@Injectable()
export class Installer {
  constructor(
    readonly installation: InstallationStreams,
    readonly accounts: AccountCommandHandler,
    readonly keys: KeyStreams,
    readonly vault: KeyVault,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * The first start writes a key to `keyFile`, opens an account, and mints that key in it with every scope. Each step checks
   * whether it has been done, so the next start completes an interrupted one, with the same account and the key that the
   * file contains. A finished installation never touches the file again.
   */
  async install(keyFile: string): Promise<void> {
    const { state } = await this.installation.load(INSTALLATION_ID);
    if (state.kind === 'finished') return this.extendFirstKey(state.keyId);
    const key = await keyIn(keyFile);
    const { accountId, keyId } = await this.begin();
    await this.accounts.open(accountId, newId('cmd'));
    await this.mint(accountId, keyId, key);
    await this.installation.handle(
      INSTALLATION_ID,
      { type: 'Finish', now: this.clock.now() },
      { commandId: newId('cmd'), accountId, actor: SYSTEM },
    );
    this.log.info({ accountId, keyId, keyFile }, 'Opened the first account; the file contains its key.');
  }

  /**
   * The installation's first key holds every scope, including scopes that are newer than the key. Writes the log first, then
   * the vault, so that the next start completes an interrupted extension.
   */
  private async extendFirstKey(keyId: string): Promise<void> {
    const { state: known } = await this.keys.load(keyId);
    if (known.kind !== 'live') return;
    const { state } = await this.keys.handle(
      keyId,
      { type: 'ExtendScopes', keyId, scopes: SCOPES, now: this.clock.now() },
      { commandId: newId('cmd'), accountId: known.key.accountId, actor: SYSTEM },
    );
    if (state.kind === 'live') await this.vault.setScopes(keyId, state.key.scopes);
  }

  private async begin(): Promise<{ accountId: string; keyId: string }> {
    const accountId = newId('acc');
    const { state } = await this.installation.handle(
      INSTALLATION_ID,
      { type: 'Begin', accountId, keyId: newId('key'), now: this.clock.now() },
      { commandId: newId('cmd'), accountId, actor: SYSTEM },
    );
    if (state.kind === 'fresh') throw new Error('The installation has begun, but its stream has no ids.');
    return state;
  }

  private async mint(accountId: string, keyId: string, key: string): Promise<void> {
    const { state } = await this.keys.handle(
      keyId,
      {
        type: 'Mint',
        keyId,
        accountId,
        name: 'bootstrap',
        scopes: SCOPES,
        holderScopes: SCOPES,
        forFirstAccount: true,
        expiresAt: null,
        holderExpiresAt: null,
        now: this.clock.now(),
      },
      // Every start sends the same command id, so a start that continues another one gets its result.
      { commandId: `cmd_${keyId.slice('key_'.length)}`, accountId, actor: SYSTEM },
    );
    if (state.kind !== 'live') return;
    const secret = { ...state.key, key };
    // The file may contain the key of an earlier installation, whose log was replaced and whose vault was kept.
    await this.vault.forgetOtherHolders(secret);
    // The vault may hold the secret of an interrupted start whose file is lost, so that no caller has that key.
    if (!(await this.vault.store(secret))) await this.vault.replace(secret);
  }
}

const keyIn = async (keyFile: string): Promise<string> => {
  const key = (await readKeyFile(keyFile)) ?? (await createKeyFile(keyFile, formatKey(randomBytes(32))));
  await restrictToOwner(keyFile);
  await sweepDrafts(keyFile);
  return key;
};
