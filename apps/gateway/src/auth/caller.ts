import { newId, type CommandEnvelope } from '@berth/kernel';
import type { ApiRequest } from '../http/fastify-types.js';
import { actorOf, type KeyPrincipal, type Principal } from './principal.js';

/** The authenticated caller; the hook sets it on every route that does not accept anyone. */
export const callerOf = (request: Pick<ApiRequest, 'principal'>): Principal => {
  if (request.principal === null) throw new Error('A route that accepts anyone has no caller.');
  return request.principal;
};

/** The caller of a route that accepts keys only. */
export const keyHolderOf = (request: Pick<ApiRequest, 'principal'>): KeyPrincipal => {
  const caller = callerOf(request);
  if (caller.kind !== 'key') throw new Error(`A route for keys was called by ${caller.kind}.`);
  return caller;
};

/** The envelope of a command. Under an Idempotency-Key a retry carries the command id of the first attempt. */
export const envelopeOf = (request: Pick<ApiRequest, 'principal' | 'claim'>): CommandEnvelope => {
  const caller = callerOf(request);
  return {
    commandId: request.claim?.commandId ?? newId('cmd'),
    accountId: caller.accountId,
    actor: actorOf(caller),
  };
};
