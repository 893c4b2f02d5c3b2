import { randomBytes } from 'node:crypto';
import { SCOPES, formatKey } from '@berth/contracts/accounts';
import type { CommandHandler } from '@berth/event-store';
import { newId, type Actor, type Clock } from '@berth/kernel';
import type { Logger } from '@berth/telemetry';
import type { AccountCommandHandler } from '../account/account.command-handler.js';
import type { KeyCommands } from '../key/key.command-handler.js';
import type { KeyVault } from '../key/key-vault.js';
import { closeToOthers, createKeyFile, readKeyFile, sweepDrafts } from './bootstrap-key-file.js';
import type { InstallationEvent, InstallationState } from './installation.js';
import type { InstallationCommand } from './installation.decider.js';
import { INSTALLATION } from './installation.events.js';

export type InstallationCommands = CommandHandler<InstallationState, InstallationCommand, InstallationEvent>;

export interface InstallParts {
  readonly installation: InstallationCommands;
  readonly accounts: AccountCommandHandler;
  readonly keys: KeyCommands;
  readonly vault: KeyVault;
  readonly clock: Clock;
  readonly log: Logger;
}

const SYSTEM: Actor = { kind: 'system', id: 'accounts' };

/** The installation's first account; null before its first start is over. */
export const firstAccountOf = async ({
  installation,
}: Pick<InstallParts, 'installation'>): Promise<string | null> => {
  const { state } = await installation.load(INSTALLATION);
  return state.kind === 'finished' ? state.accountId : null;
};

/** Whether account and key of the first start are there. */
export const isInstalled = async ({ installation }: Pick<InstallParts, 'installation'>): Promise<boolean> =>
  (await installation.load(INSTALLATION)).state.kind === 'finished';

/**
 * The first start: a key in `keyFile`, an account, that key in it with every scope. Each step finds out whether it has
 * been done, so that a start that was cut off anywhere is finished by the next one, with the same account and the key
 * that the file holds. Once finished it never touches the file again.
 */
export const install = async (parts: InstallParts, keyFile: string): Promise<void> => {
  const { state } = await parts.installation.load(INSTALLATION);
  if (state.kind === 'finished') return extendFirstKey(parts, state.keyId);
  const key = await keyIn(keyFile);
  const { accountId, keyId } = await begin(parts);
  await parts.accounts.open(accountId, newId('cmd'));
  await mint(parts, accountId, keyId, key);
  await parts.installation.handle(
    INSTALLATION,
    { type: 'Finish', now: parts.clock.now() },
    { commandId: newId('cmd'), accountId, actor: SYSTEM },
  );
  parts.log.info({ accountId, keyId, keyFile }, 'first account opened; its key stands in the file');
};

/**
 * The installation's first key holds every scope, also those that are younger than the key. Log first, vault second: a
 * start that was cut off in between is finished by the next one.
 */
const extendFirstKey = async ({ keys, vault, clock }: InstallParts, keyId: string): Promise<void> => {
  const { state: known } = await keys.load(keyId);
  if (known.kind !== 'live') return;
  const { state } = await keys.handle(
    keyId,
    { type: 'ExtendScopes', keyId, scopes: SCOPES, now: clock.now() },
    { commandId: newId('cmd'), accountId: known.key.accountId, actor: SYSTEM },
  );
  if (state.kind === 'live') await vault.setScopes(keyId, state.key.scopes);
};

const keyIn = async (keyFile: string): Promise<string> => {
  const key = (await readKeyFile(keyFile)) ?? (await createKeyFile(keyFile, formatKey(randomBytes(32))));
  await closeToOthers(keyFile);
  await sweepDrafts(keyFile);
  return key;
};

const begin = async (parts: InstallParts): Promise<{ accountId: string; keyId: string }> => {
  const accountId = newId('acc');
  const { state } = await parts.installation.handle(
    INSTALLATION,
    { type: 'Begin', accountId, keyId: newId('key'), now: parts.clock.now() },
    { commandId: newId('cmd'), accountId, actor: SYSTEM },
  );
  if (state.kind === 'fresh') throw new Error('An installation that has begun has ids.');
  return state;
};

const mint = async (parts: InstallParts, accountId: string, keyId: string, key: string): Promise<void> => {
  const { keys, vault, clock } = parts;
  const { state } = await keys.handle(
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
      now: clock.now(),
    },
    // The same command whoever sends it: a start that goes on where another stopped meets its result.
    { commandId: `cmd_${keyId.slice('key_'.length)}`, accountId, actor: SYSTEM },
  );
  if (state.kind !== 'live') return;
  const secret = { ...state.key, key };
  // The file may have the key of an earlier installation, whose log was replaced and whose vault was kept.
  await vault.forgetOtherHolders(secret);
  // A secret from a start that was cut off, whose file is gone: nobody would ever get in.
  if (!(await vault.store(secret))) await vault.replace(secret);
};
