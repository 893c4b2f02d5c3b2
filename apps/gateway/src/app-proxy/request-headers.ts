import type { IncomingMessage } from 'node:http';
import { eachHeader, type FieldList } from '@berth/sockets';
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
const REPLACED = /^(?:x-forwarded-|x-berth-|forwarded$|x-request-id$|content-length$|transfer-encoding$)/;
/** Programs accept a tab here, too. */
const BEARER = /^Bearer\s+(\S+)/i;

/** Whether an `Authorization` header carries a credential of ours, valid or not. */
export const isOurAuthorization = (value: string): boolean => looksOurs(BEARER.exec(value.trim())?.[1] ?? '');

/** Berth's statements about the request, as names and values in turn. */
export const forwardedHeaders = (raw: Pick<IncomingMessage, 'headers'>, facts: ForwardedFacts): FieldList => [
  'X-Forwarded-For',
  facts.clientAddress,
  'X-Forwarded-Proto',
  facts.scheme,
  'X-Forwarded-Host',
  raw.headers.host ?? '',
  ...(facts.externalUserId === null ? [] : ['X-Berth-External-User-Id', facts.externalUserId]),
];

/**
 * The end-to-end headers or trailers of a caller that a program gets: without our credentials, and without the names of
 * our own statements.
 */
export const callersFields = (fields: FieldList): FieldList => {
  const kept: string[] = [];
  for (const [name, value] of eachHeader(fields)) {
    const key = name.toLowerCase();
    if (REPLACED.test(key.replaceAll('_', '-'))) continue;
    if (key === 'authorization' && isOurAuthorization(value)) continue;
    const text = key === 'cookie' ? withoutSession(value) : value;
    if (text !== '' || key !== 'cookie') kept.push(name, text);
  }
  return kept;
};
