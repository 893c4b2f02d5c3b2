import type { Principal } from '@berth/contracts/accounts';
import { newId, type CommandEnvelope } from '@berth/kernel';
import type { ApiRequest } from '../http/fastify-types.js';

/** The authenticated caller. The hook has seen to it on every route that is not public. */
export const callerOf = (request: Pick<ApiRequest, 'principal'>): Principal => {
  if (request.principal === null) throw new Error('A public route asked who calls.');
  return request.principal;
};

/** The envelope of a command. Under an Idempotency-Key a retry carries the command id of the first try. */
export const envelopeOf = (request: Pick<ApiRequest, 'principal' | 'claim'>): CommandEnvelope => {
  const { accountId, keyId } = callerOf(request);
  return {
    commandId: request.claim?.commandId ?? newId('cmd'),
    accountId,
    actor: { kind: 'key', id: keyId },
  };
};
