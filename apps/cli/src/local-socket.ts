import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { openSocketPath } from '@berth/sockets';
import { CliError, EXIT } from './cli-error.js';

const TIMEOUT_MS = 15_000;

export interface LocalCall {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

export interface LocalResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends a request to the Berth that runs on this host, over a Unix socket in its data folder. */
export const callLocally = async (socketPath: string, call: LocalCall): Promise<LocalResponse> => {
  const at = await openSocketPath(socketPath).catch((error: unknown) => {
    throw unreachable(socketPath, error as NodeJS.ErrnoException);
  });
  try {
    const response = await send(socketPath, at.path, call);
    return { status: response.statusCode ?? 0, body: await text(response) };
  } finally {
    await at.release();
  }
};

const send = (
  shownPath: string,
  socketPath: string,
  { method, path, body }: LocalCall,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { host: 'localhost', 'content-type': 'application/json' };
    const sent = request({ socketPath, method, path, timeout: TIMEOUT_MS, headers }, resolve);
    sent.once('timeout', () => sent.destroy(new Error('no response')));
    sent.once('error', (error: NodeJS.ErrnoException) => reject(unreachable(shownPath, error)));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });

const unreachable = (socketPath: string, error: NodeJS.ErrnoException): CliError => {
  const what =
    error.code === 'EACCES'
      ? `${socketPath} is open only to the user that Berth runs as. Run this command as that user.`
      : `No running Berth at ${socketPath} (${error.code ?? error.message}). Start it, and set BERTH_DATA to its data folder.`;
  return new CliError(EXIT.unavailable, what, { cause: error });
};
