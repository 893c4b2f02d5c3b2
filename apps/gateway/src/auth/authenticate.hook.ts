import { accountsRequests, type Principal, type Scope } from '@berth/contracts/accounts';
import { DomainError, isDomainError } from '@berth/kernel';
import type { Requester } from '@berth/messaging';
import { unknownRoute } from '../http/error-answer.js';
import type { HttpServer } from '../http/fastify-types.js';
import { HttpRefusal, unauthenticated } from '../http/http-refusal.js';
import { hasCredential, hashKey, keyOf } from './credentials.js';

/** A route that does not state who may call it keeps the gateway from starting. */
export const addAccessCheck = (server: HttpServer): void => {
  server.addHook('onRoute', ({ method, path, config }) => {
    if (config?.rules === undefined)
      throw new Error(`The route ${String(method)} ${path} does not state its access.`);
  });
};

/**
 * 401, then 403, on every route, before anything of the body is read. Keys are looked up in their row on every request: a revoke that was answered holds at once.
 */
export const addAuthenticationHook = (server: HttpServer, requester: Requester): void => {
  server.addHook('onRequest', async (request) => {
    const rules = request.routeOptions.config.rules;
    if (rules === undefined) throw unknownRoute();
    if (hasCredential(request.query)) {
      throw unauthenticated('Send credentials in the Authorization header, never in the address.');
    }
    if (rules.access === 'public') return;
    request.principal = await authenticate(requester, request.headers.authorization);
    if (!request.principal.scopes.includes(rules.access) && rules.access !== 'read')
      throw missingScope(rules.access);
  });
};

/** The caller behind an `Authorization` header; 401 for anything that is not a living key. */
export const authenticate = async (
  requester: Requester,
  authorization: string | undefined,
  deadlineMs = LOOK_UP_WITHIN_MS,
): Promise<Principal> => {
  const key = keyOf(authorization);
  if (key === undefined) throw unauthenticated();
  try {
    return await requester.request(accountsRequests.authenticate, { keyHash: hashKey(key) }, { deadlineMs });
  } catch (error) {
    // Nothing was begun that could still take effect: to the caller a part is away, whichever way it fails to answer.
    if (isDomainError(error, 'timeout'))
      throw new DomainError('unavailable', 'service_unavailable', error.message);
    throw error;
  }
};

/** Longer than the look-up of a frozen table takes to fail, and still within the 5 s of a 503. */
const LOOK_UP_WITHIN_MS = 4_600;

/** 403 with the scope that the key lacks. */
export const missingScope = (scope: Scope): HttpRefusal =>
  new HttpRefusal(403, 'missing_scope', `This needs a key with the scope ${scope}.`, {
    requiredScope: scope,
  });
