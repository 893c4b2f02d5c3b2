import { unknownRoute } from '../http/error-answer.js';
import type { HttpServer } from '../http/fastify-types.js';
import { unauthenticated } from '../http/http-refusal.js';
import { accessRefusal } from './access.js';
import type { Authenticators } from './authenticators.js';
import { credentialOf, hasForbiddenCredential } from './credentials.js';

/** 401, then 403, as each route declares, before anything of the body is read. */
export const addAuthenticationHook = (server: HttpServer, authenticators: Authenticators): void => {
  server.addHook('onRequest', async (request) => {
    const { rules } = request.routeOptions.config;
    if (rules === undefined) throw unknownRoute();
    if (hasForbiddenCredential(request.query, rules.tokenInQuery === true)) {
      throw unauthenticated('Send credentials in the Authorization header, never in the address.');
    }
    if (rules.accepts === 'anyone') return;
    const credential = credentialOf(request, rules);
    if (credential === undefined && rules.accepts.anonymous === true) return;
    request.principal = await authenticators.authenticate(credential);
    request.credential = credential;
    const refusal = accessRefusal(request.principal, rules.accepts);
    if (refusal !== undefined) throw refusal;
  });
};
