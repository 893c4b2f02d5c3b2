import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { HOP_BY_HOP, listedInConnection } from './header-lists.js';

/** A request that a server has received, and its response. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The parts of the received request that the onward request keeps. */
export interface OnwardRequest {
  readonly method: string | undefined;
  readonly headers: OutgoingHttpHeaders;
  /** Each exchange has a connection of its own: a kept one may end while a body is sent on it. */
  readonly agent: false;
}

/**
 * Forwards an exchange: bodies pass unread in both directions, at the pace of the slower side, and either side learns when
 * the other hangs up. `send` begins the onward request. Resolves when the exchange is over. Rejects only before the
 * first byte of the response, with the error of the onward request.
 */
export const forwardExchange = async (
  { request, response }: HttpExchange,
  send: (onward: OnwardRequest) => ClientRequest,
): Promise<void> => {
  const onward = send({ method: request.method, headers: onwardHeaders(request), agent: false });
  const leave = (): void => void onward.destroy();
  response.once('close', leave);
  try {
    const responded = once(onward, 'response') as Promise<[IncomingMessage]>;
    // A server may respond before it has read the whole body; then only the rest of the body is lost.
    onward.on('error', () => request.unpipe(onward));
    request.pipe(onward);
    if (response.destroyed) leave();
    const [received] = await responded;
    response.writeHead(received.statusCode ?? 502, endToEnd(received));
    response.flushHeaders();
    await pipeline(received, response).catch(() => response.destroy());
  } finally {
    response.off('close', leave);
    request.unpipe(onward);
    leave();
  }
};

const onwardHeaders = (request: IncomingMessage): OutgoingHttpHeaders => ({
  ...endToEnd(request),
  // Without a frame, the body of a GET would be read as another request.
  ...(request.headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }),
  // A server that closes a Unix socket first makes the last write of the body fail, and the response is lost.
  connection: 'keep-alive',
});

const endToEnd = ({ headers, rawHeaders }: IncomingMessage): OutgoingHttpHeaders => {
  const listed = listedInConnection(rawHeaders);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !listed.has(name)),
  );
};
