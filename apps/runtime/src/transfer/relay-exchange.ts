import { once } from 'node:events';
import { request as requestGuest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { guestUnreachable, readRefusal } from '../guest/guest-responses.js';
import { readBoundedJson } from '../guest/guest-socket.js';
import { checkResponse, type GuestExchange } from './guest-exchange.js';

/** Maximum number of bytes buffered between two sockets. */
export const BUFFERED_BYTES = 256 * 1024;
const REFUSED = 422;

/** The two sides of one exchange. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path of the guest's socket. */
  readonly socketPath: string;
  /** Aborts when the agent is frozen or ended. */
  readonly cut: AbortSignal;
}

/**
 * Forwards a request to a guest and its response back, at the pace of the slower side; if one side ends, so does the
 * other. Resolves when the exchange is over. Rejects only before the first byte of the response: with the guest's own
 * error or unavailable `guest_unreachable`.
 */
export const relayExchange = async (
  rules: GuestExchange,
  { request, response, socketPath, cut }: Exchange,
): Promise<void> => {
  const connection = connect({ path: socketPath });
  const upstream = requestGuest({
    createConnection: () => connection,
    method: request.method,
    path: rules.target,
    // Node ends a body with an empty write. If the guest has closed its Unix socket by then, the write fails, and the
    // response is lost although it has arrived. So this side closes the connection.
    headers: { host: 'guest', connection: 'keep-alive', ...passOn(request, rules.passedOn) },
  });
  const leave = (): void => void upstream.destroy();
  const breakOff = (): void => {
    leave();
    if (response.headersSent) response.destroy();
  };
  response.once('close', leave);
  cut.addEventListener('abort', breakOff, { once: true });
  if (rules.idleMs !== null) request.setTimeout(rules.idleMs, () => request.destroy());
  try {
    const responded = once(upstream, 'response') as Promise<[IncomingMessage]>;
    upstream.on('error', () => request.unpipe(upstream));
    if (request.method === 'PUT') request.pipe(upstream);
    else upstream.end();
    if (cut.aborted) leave();
    const [guestResponse] = await responded.catch((error: unknown) => {
      throw guestUnreachable(error);
    });
    await passBack(rules, guestResponse, response, request.method !== 'HEAD');
  } finally {
    request.unpipe(upstream);
    cut.removeEventListener('abort', breakOff);
    leave();
    connection.destroy();
  }
};

const passBack = async (
  rules: GuestExchange,
  guestResponse: IncomingMessage,
  response: ServerResponse,
  hasBody: boolean,
): Promise<void> => {
  const status = guestResponse.statusCode ?? 0;
  if (status === REFUSED) throw await readRefusalOf(guestResponse);
  const withBody = hasBody && status !== 304 && status !== 416;
  const headers = checkResponse(rules.response, status, guestResponse.headers, withBody);
  if (headers === undefined) throw guestUnreachable();
  response.writeHead(status, headers);
  // Followed output may stay silent for long, so send the headers first.
  if (rules.idleMs === null) response.flushHeaders();
  await pipeline(guestResponse, response);
};

/** Parses the error in a guest's response. */
export const readRefusalOf = async (guestResponse: IncomingMessage): Promise<Error> => {
  try {
    return readRefusal(await readBoundedJson(guestResponse));
  } catch (error) {
    return guestUnreachable(error);
  }
};

const passOn = (request: IncomingMessage, names: readonly string[]): { readonly [name: string]: string } => {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = request.headers[name];
    if (typeof value === 'string') kept[name] = value;
  }
  return kept;
};
