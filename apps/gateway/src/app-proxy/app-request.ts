import type { IncomingMessage } from 'node:http';
import { expectationProblem, framingProblem } from '@berth/sockets';
import { HttpRefusal, invalidRequest, unfitRequest } from '../http/http-refusal.js';
import { hostRefusal } from '../http/host-header.js';
import type { AppTarget } from './app-target.js';

/** The problem of a request whose meaning its parts do not agree on; undefined if there is none. */
export const ambiguityOf = (
  raw: IncomingMessage,
  { authority, target }: AppTarget,
): HttpRefusal | undefined => {
  const refusal = hostRefusal(raw);
  if (refusal !== undefined) return refusal;
  // Programs read the path of `ws://host/chat` as `/chat`.
  if (!target.startsWith('/') && !(raw.method === 'OPTIONS' && target === '*'))
    return invalidRequest([
      { path: 'path', message: 'must begin with a slash, or with http:// and the host' },
    ]);
  if (authority !== undefined && authority.toLowerCase() !== raw.headers.host?.toLowerCase())
    return invalidRequest([{ path: 'Host', message: 'differs from the host of the request target' }]);
  if ((raw.headersDistinct['authorization'] ?? []).length > 1)
    return invalidRequest([{ path: 'Authorization', message: 'Send one Authorization header.' }]);
  const problem = framingProblem(raw) ?? expectationProblem(raw);
  return problem === undefined ? undefined : unfitRequest(problem);
};

/**
 * Why a request with a session's cookie must not pass: browsers add the cookie to requests of other sites, too. `origins`
 * are those of the app's own pages.
 */
export const crossSiteRefusal = (
  { method, headers }: IncomingMessage,
  origins: readonly string[],
): HttpRefusal | undefined => {
  const site = headers['sec-fetch-site'];
  const isNavigation =
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  const isForeign = headers.origin !== undefined && !origins.includes(headers.origin.toLowerCase());
  const isCrossSite = (site === 'same-site' || site === 'cross-site') && !isNavigation;
  if (!isForeign && !isCrossSite) return undefined;
  return new HttpRefusal(403, 'foreign_origin', 'A page of another origin sent this request.');
};
