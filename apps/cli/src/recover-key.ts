import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { MintedKey } from '@berth/contracts/accounts';
import { openSocketPath } from '@berth/sockets';
import { CliError, EXIT } from './cli-error.js';
import type { CliConfig } from './config.js';

const TIMEOUT_MS = 15_000;

/** Requests a key from the Berth that runs on this host, over the Unix socket in its data folder. */
export const recoverKey = async ({ recoverySocket }: CliConfig): Promise<MintedKey> => {
  const response = await ask(recoverySocket);
  const body = await text(response);
  if (response.statusCode === 201) return JSON.parse(body) as MintedKey;
  const exitCode = response.statusCode === 503 ? EXIT.unavailable : EXIT.refused;
  throw new CliError(exitCode, `Berth did not mint a key (${response.statusCode}): ${body}`);
};

const ask = async (recoverySocket: string): Promise<IncomingMessage> => {
  const at = await openSocketPath(recoverySocket).catch((error: unknown) => {
    throw unreachable(recoverySocket, error as NodeJS.ErrnoException);
  });
  try {
    return await post(recoverySocket, at.path);
  } finally {
    await at.release();
  }
};

const post = (recoverySocket: string, socketPath: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        socketPath,
        method: 'POST',
        path: '/keys/recover',
        timeout: TIMEOUT_MS,
        headers: { host: 'localhost' },
      },
      resolve,
    );
    sent.once('timeout', () => sent.destroy(new Error('no response')));
    sent.once('error', (error: NodeJS.ErrnoException) => reject(unreachable(recoverySocket, error)));
    sent.end();
  });

const unreachable = (socketPath: string, error: NodeJS.ErrnoException): CliError => {
  const what =
    error.code === 'EACCES'
      ? `${socketPath} is open only to the user that Berth runs as. Run this command as that user.`
      : `No running Berth at ${socketPath} (${error.code ?? error.message}). Start it, and set BERTH_DATA to its data folder.`;
  return new CliError(EXIT.unavailable, what, { cause: error });
};
