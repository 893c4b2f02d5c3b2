import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { eachHeader, endToEnd, type FieldList } from './header-lists.js';
import {
  expectationProblem,
  framingOf,
  framingProblem,
  hasBody,
  type RequestProblem,
} from './http-framing.js';
import { finalResponse, passBack, type ResponseRules } from './relayed-response.js';
import { discardBody } from './unwanted-body.js';

/** A request that a server has received, and its response. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The parts of the received request that the onward request must have. */
export interface OnwardRequest {
  readonly method: string;
  readonly headers: FieldList;
  /** Whether it may be sent on a kept connection: it can be sent again if that has just been closed. */
  readonly mayReuse: boolean;
}

/** What one hop does with the exchanges that it forwards. */
export interface RelayRules extends ResponseRules {
  /** Finds the next server, before each attempt; `isAgain`: an earlier attempt has not reached it. */
  readonly find?: (isAgain: boolean) => Promise<void>;
  /** Begins the onward request with Node's client. Unless `mayReuse`, it must have a connection of its own. */
  readonly send: (onward: OnwardRequest) => ClientRequest;
  /** Of the end-to-end headers and trailers of the request, those that are forwarded; by default all. */
  readonly requestFields?: (fields: FieldList) => FieldList;
  /** Headers that the hop adds to the request. */
  readonly added?: FieldList;
  /** Ends the exchange: before its response begins, with an error. */
  readonly cut?: AbortSignal;
  /** The caller is disconnected if nothing is sent or received for so long. */
  readonly idleMs?: number | null;
}

/** The request must be refused: it is not forwarded. */
export class UnfitRequest extends Error {
  override readonly name = 'UnfitRequest';

  constructor(readonly problem: RequestProblem) {
    super(`${problem.header} ${problem.message}`);
  }
}

/** The next server has not seen the request. */
class Unseen extends Error {}

const CONNECT_MS = 5_000;
const UNREACHED: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Fields that RFC 9110 §6.5.1 keeps out of trailers, because they frame or route the message. */
const NEVER_TRAILERS: ReadonlySet<string> = new Set(['content-length', 'expect', 'host']);
/** The relay announces the body itself. */
const ANNOUNCED: ReadonlySet<string> = new Set(['content-length', 'expect']);

/** Registers `handle` for all requests, also those that wait for `100 Continue`, which Node would grant at once, before any check. */
export const onExchange = (server: Server, handle: (exchange: HttpExchange) => unknown): void => {
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const)
    server.on(event, (request: IncomingMessage, response: ServerResponse) => handle({ request, response }));
};

/** Lets a caller that waits for it send its body. */
export const grantContinue = ({ request, response }: HttpExchange): void => {
  const isWaiting = request.headers.expect !== undefined && request.httpVersion === '1.1';
  if (isWaiting && expectationProblem(request) === undefined) response.writeContinue();
};

/**
 * Forwards an exchange: the only way in which Berth forwards HTTP. The onward request announces exactly the body that was
 * received, bodies pass unread in both directions at the pace of the slower side, `Expect: 100-continue`, informational
 * responses and trailers pass, and either side learns when the other hangs up. A request that the next server has not seen
 * is sent once more. Resolves when the exchange is over. Rejects only before the first byte of the response: with
 * `UnfitRequest`, the error of `find`, the connection or `responseHeaders`.
 */
export const relayHttp = async (exchange: HttpExchange, rules: RelayRules): Promise<void> => {
  const { request, response } = exchange;
  const problem = framingProblem(request) ?? expectationProblem(request);
  if (problem !== undefined) {
    response.shouldKeepAlive = false;
    throw new UnfitRequest(problem);
  }
  const mayReuse = REPEATABLE.has(request.method ?? '') && !hasBody(request);
  try {
    await attempt(exchange, rules, { mayReuse, isAgain: false });
  } catch (error) {
    if (!(error instanceof Unseen)) throw error;
    if (response.destroyed) throw error.cause;
    await attempt(exchange, rules, { mayReuse: false, isAgain: true }).catch((again: unknown) => {
      throw again instanceof Unseen ? again.cause : again;
    });
  } finally {
    discardBody(request);
  }
};

const attempt = async (
  exchange: HttpExchange,
  rules: RelayRules,
  { mayReuse, isAgain }: { readonly mayReuse: boolean; readonly isAgain: boolean },
): Promise<void> => {
  const { request, response } = exchange;
  await rules.find?.(isAgain);
  const onward = rules.send({
    method: request.method ?? '',
    headers: onwardHeaders(request, rules),
    mayReuse,
  });
  // Errors after the response has begun reach its reader.
  onward.on('error', () => undefined);
  const leave = (): void => void onward.destroy();
  const outlive = (): boolean => rules.outlivesCaller === true && onward.writableEnded;
  const hangUp = (): void => void (outlive() || leave());
  const breakOff = (): void => {
    leave();
    if (response.headersSent) response.destroy();
  };
  response.once('close', hangUp);
  rules.cut?.addEventListener('abort', breakOff, { once: true });
  if (typeof rules.idleMs === 'number') {
    request.setTimeout(rules.idleMs, () => request.destroy());
    if (rules.outlivesCaller === true) onward.setTimeout(rules.idleMs, leave);
  }
  try {
    const received = finalResponse(onward, exchange);
    let isReached = false;
    const connection = connectionOf(onward).then(() => (isReached = true));
    if (response.destroyed || rules.cut?.aborted === true) leave();
    sendBody(request, onward, { connection, fields: rules.requestFields });
    const final = await received.catch((error: unknown) => {
      const isUnseen = isReached ? onward.reusedSocket && mayReuse : UNREACHED.has(Object(error).code);
      throw isUnseen ? new Unseen('', { cause: error }) : error;
    });
    await passBack(final, exchange, rules);
  } finally {
    response.off('close', hangUp);
    rules.cut?.removeEventListener('abort', breakOff);
    request.unpipe(onward);
    // A kept connection is given back by its agent.
    if (!mayReuse || !response.writableFinished) leave();
  }
};

const onwardHeaders = (
  request: IncomingMessage,
  { requestFields = (fields) => fields, added = [], requestId }: RelayRules,
): FieldList => {
  const replaced = requestId === undefined ? ANNOUNCED : new Set([...ANNOUNCED, 'x-request-id']);
  const headers = [...requestFields(endToEnd(request.rawHeaders, replaced)), ...framingOf(request), ...added];
  if (String(request.headers.te).toLowerCase() === 'trailers') headers.push('TE', 'trailers');
  if (requestId !== undefined) headers.push('X-Request-Id', requestId);
  // A server that closes first makes the last write of a body fail, and the response is lost although it has arrived.
  return [...headers, 'Connection', 'keep-alive'];
};

/** Resolves once the request has a connection, which fails if that takes too long. */
const connectionOf = async (onward: ClientRequest): Promise<void> => {
  const [socket] = (await once(onward, 'socket')) as [Socket];
  if (!socket.connecting) return;
  const connected = socket instanceof TLSSocket ? 'secureConnect' : 'connect';
  const late = Object.assign(new Error('The next server did not accept the connection.'), {
    code: 'EHOSTUNREACH',
  });
  const timer = setTimeout(() => onward.destroy(late), CONNECT_MS);
  try {
    await once(socket, connected);
  } finally {
    clearTimeout(timer);
  }
};

/** Nothing of a body is read before there is a connection, so that the request can be sent again. */
const sendBody = (
  request: IncomingMessage,
  onward: ClientRequest,
  {
    connection,
    fields = (all) => all,
  }: { readonly connection: Promise<unknown>; readonly fields: RelayRules['requestFields'] },
): void => {
  if (!hasBody(request)) {
    connection.catch(() => undefined);
    onward.end();
    return;
  }
  // The next server may respond, and close its connection, while the body is still on its way.
  onward.once('close', () => request.unpipe(onward));
  // It may also wait with its response for no byte of the body.
  onward.flushHeaders();
  connection.then(
    () => {
      if (onward.destroyed) return;
      request.once('end', () => {
        const trailers = fields(endToEnd(request.rawTrailers, NEVER_TRAILERS));
        if (trailers.length > 0) onward.addTrailers([...eachHeader(trailers)]);
      });
      request.pipe(onward);
    },
    () => undefined,
  );
};
