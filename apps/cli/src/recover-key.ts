import type { MintedKey } from '@berth/contracts/accounts';
import { CliError, EXIT } from './cli-error.js';
import type { CliConfig } from './config.js';
import { callLocally } from './local-socket.js';

/** Requests a key from the Berth that runs on this host, over the Unix socket in its data folder. */
export const recoverKey = async ({ recoverySocket }: CliConfig): Promise<MintedKey> => {
  const { status, body } = await callLocally(recoverySocket, { method: 'POST', path: '/keys/recover' });
  if (status === 201) return JSON.parse(body) as MintedKey;
  const exitCode = status === 503 ? EXIT.unavailable : EXIT.refused;
  throw new CliError(exitCode, `Berth did not mint a key (${status}): ${body}`);
};
