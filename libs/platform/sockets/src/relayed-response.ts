import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';
import { eachHeader, endToEnd, type FieldList } from './header-lists.js';

/** What one hop does with the responses that it forwards. */
export interface ResponseRules {
  /** The headers that are forwarded; by default the end-to-end ones. Throws to refuse the response. */
  readonly responseHeaders?: (received: IncomingMessage) => FieldList | Promise<FieldList>;
  /** The trailers that are forwarded; by default the end-to-end ones. */
  readonly responseTrailers?: (received: IncomingMessage) => FieldList;
  /** The id of the request, which goes with it and its response; by default only what the two sides say themselves. */
  readonly requestId?: string;
  /** Whether the caller's connection ends with this response. */
  readonly closing?: boolean;
  /** Once the whole request is sent on, the exchange goes on to the end of its response, even if the caller hangs up. */
  readonly outlivesCaller?: boolean;
}

/** The next server has not responded with HTTP that can be forwarded. */
class UnfitResponse extends Error {
  override readonly name = 'UnfitResponse';
}

/**
 * More responses than servers send before their final one. Unlike the bytes of a body, they are passed on without
 * waiting for a caller who does not read, so that without an end to them they would fill the memory.
 */
const MOST_INFORMATIONAL = 100;

/** The final response; informational ones are passed on. Rejects with the error of the onward request. */
export const finalResponse = (
  onward: ClientRequest,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const isModern = request.httpVersion === '1.1';
    let informational = 0;
    onward.on('information', ({ statusCode, headers }) => {
      informational += 1;
      if (informational > MOST_INFORMATIONAL) return onward.destroy();
      if (!isModern || response.headersSent) return undefined;
      if (statusCode === 100) response.writeContinue();
      if (statusCode === 103) hint(response, headers['link']);
      return undefined;
    });
    onward.once('response', resolve);
    // The request did not ask for another protocol.
    onward.once('upgrade', (_response, connection) => connection.destroy());
    onward.once('error', reject);
    onward.once('close', () => reject(new UnfitResponse('The connection closed without a response.')));
  });

/** Node throws on links that it does not understand, here outside of every promise; a response needs no hints. */
const hint = (response: ServerResponse, link: string | readonly string[] | undefined): void => {
  if (link === undefined) return;
  try {
    response.writeEarlyHints({ link: [link].flat() });
  } catch {
    // The final response has the same links, and is sent as it is.
  }
};

/** Sends a response to the caller. Rejects before its first byte only. */
export const passBack = async (
  received: IncomingMessage,
  { response }: { readonly response: ServerResponse },
  rules: ResponseRules,
): Promise<void> => {
  const { trailers, hasLength } = await begin(received, response, rules).catch((error: unknown) => {
    received.destroy();
    throw error;
  });
  // The first event of a stream may come much later.
  if (!hasLength) response.flushHeaders();
  if (trailers !== undefined)
    received.once('end', () => response.addTrailers([...eachHeader(trailers(received))]));
  const passed =
    rules.outlivesCaller === true ? passOrDrain(received, response) : pipeline(received, response);
  await passed.catch(() => response.destroy());
};

const passOrDrain = async (received: IncomingMessage, response: ServerResponse): Promise<void> => {
  const drain = (): void => {
    received.unpipe(response);
    received.resume();
  };
  response.once('close', drain);
  if (response.destroyed) drain();
  else received.pipe(response);
  await finished(received);
  if (!response.destroyed) await finished(response);
};

type TrailersOf = (received: IncomingMessage) => FieldList;

/** Writes the head. `trailers` is undefined if the response can have none. */
const begin = async (
  received: IncomingMessage,
  response: ServerResponse,
  rules: ResponseRules,
): Promise<{ readonly trailers: TrailersOf | undefined; readonly hasLength: boolean }> => {
  const { headers: sent, statusCode = 502, statusMessage } = received;
  // Node removes the chunks only.
  if (!KNOWN_CODING.test(sent['transfer-encoding']?.trim() ?? ''))
    throw new UnfitResponse('The transfer coding of the response is unknown.');
  const headers = await headersFor(received, rules);
  const hasLength = sent['content-length'] !== undefined;
  const hasContent = response.req.method !== 'HEAD' && !WITHOUT_CONTENT.has(statusCode);
  const mayTrail = !hasLength && response.req.httpVersion === '1.1' && hasContent;
  if (mayTrail && sent.trailer !== undefined) headers.push('Trailer', sent.trailer);
  response.writeHead(statusCode, statusMessage, headers);
  return { trailers: mayTrail ? (rules.responseTrailers ?? ofTrailers) : undefined, hasLength };
};

/** Their responses end with the headers, so that Node throws on an announced trailer. */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 304]);

const KNOWN_CODING = /^(?:chunked|identity)?$/i;

const headersFor = async (
  received: IncomingMessage,
  { responseHeaders = ofAll, requestId, closing = false }: ResponseRules,
): Promise<string[]> => {
  const headers = [...(await responseHeaders(received))];
  const hasId = headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'x-request-id');
  if (requestId !== undefined && !hasId) headers.push('X-Request-Id', requestId);
  if (closing) headers.push('Connection', 'close');
  return headers;
};

const ofAll = ({ rawHeaders }: IncomingMessage): FieldList => endToEnd(rawHeaders);

const ofTrailers = ({ rawTrailers }: IncomingMessage): FieldList => endToEnd(rawTrailers);
