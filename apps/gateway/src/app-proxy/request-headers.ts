import type { IncomingMessage } from 'node:http';
import { eachHeader, HOP_BY_HOP, listedInConnection } from '@berth/sockets';
import { looksOurs } from './app-target.js';
import { withoutSession } from './session-cookie.js';

/** The facts about a request that Berth passes to the program in headers. */
export interface ForwardedFacts {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';
  /** null: the caller is not an end user. */
  readonly externalUserId: string | null;
}

/** `_` counts as `-`, because CGI and WSGI do not tell them apart. */
const REPLACED = /^(?:x-forwarded-|x-berth-|forwarded$|x-request-id$)/;
/** Programs accept a tab here, too. */
const BEARER = /^Bearer\s+(\S+)/i;

/** Whether an `Authorization` header carries a credential of ours, valid or not. */
export const isOurAuthorization = (value: string): boolean => looksOurs(BEARER.exec(value.trim())?.[1] ?? '');

/**
 * The headers for the program, as name and value in turn: those of the caller without what concerns only this
 * connection, without our credentials, and with our statements about the request in place of the caller's.
 */
export const programHeaders = (raw: IncomingMessage, facts: ForwardedFacts): readonly string[] => {
  const kept = callersOwn(raw.rawHeaders);
  if (String(raw.headers.te).toLowerCase() === 'trailers') kept.push('TE', 'trailers');
  kept.push(...framing(raw), 'X-Request-Id', facts.requestId);
  kept.push('X-Forwarded-For', facts.clientAddress, 'X-Forwarded-Proto', facts.scheme);
  kept.push('X-Forwarded-Host', raw.headers.host ?? '');
  if (facts.externalUserId !== null) kept.push('X-Berth-External-User-Id', facts.externalUserId);
  return kept;
};

/** The trailers for the program, names and values alternating. Names that a caller may not send as headers are removed. */
export const programTrailers = ({ rawTrailers }: IncomingMessage): readonly string[] =>
  callersOwn(rawTrailers);

const callersOwn = (flat: readonly string[]): string[] => {
  const listed = listedInConnection(flat);
  const kept: string[] = [];
  for (const [name, value] of eachHeader(flat)) {
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || listed.has(key) || REPLACED.test(key.replaceAll('_', '-'))) continue;
    if (key === 'authorization' && isOurAuthorization(value)) continue;
    const text = key === 'cookie' ? withoutSession(value) : value;
    if (text !== '' || key !== 'cookie') kept.push(name, text);
  }
  return kept;
};

/** Without either header, Node would announce a body in chunks for a method that usually has one. */
const framing = ({ headers, method = '' }: IncomingMessage): readonly string[] => {
  if (headers['transfer-encoding'] !== undefined) {
    const trailer = headers.trailer;
    return ['Transfer-Encoding', 'chunked', ...(trailer === undefined ? [] : ['Trailer', trailer])];
  }
  const isEmpty = headers['content-length'] === undefined && ['POST', 'PUT', 'PATCH'].includes(method);
  return isEmpty ? ['Content-Length', '0'] : [];
};
