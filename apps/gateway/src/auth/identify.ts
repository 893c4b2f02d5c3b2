import type { ApiRequest } from '../http/fastify-types.js';
import { HolderSuspended, type Authenticators } from './authenticators.js';
import type { Credential } from './credentials.js';
import type { Principal } from './principal.js';

/** Sets the caller of a request. Errors: see `Authenticators`. */
export const identify = async (
  request: ApiRequest,
  authenticators: Authenticators,
  credential: Credential | undefined,
): Promise<Principal> => {
  const principal = await authenticators
    .authenticate(credential, { isRequest: true })
    .catch((error: unknown) => {
      // Only for the audit: the request is refused.
      if (error instanceof HolderSuspended) request.principal = error.principal;
      throw error;
    });
  request.principal = principal;
  request.credential = credential;
  return principal;
};
