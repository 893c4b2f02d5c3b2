import { Injectable } from '@nestjs/common';
import { unknownRoute } from '../http/error-response.js';
import type { ApiReply, ApiRequest, HttpServer } from '../http/fastify-types.js';
import { unauthenticated } from '../http/http-refusal.js';
import { accessRefusal } from './access.js';
import { Authenticators } from './authenticators.js';
import { ConnectionShares } from './connection-shares.js';
import { credentialOf, hasForbiddenCredential } from './credentials.js';
import { identify } from './identify.js';
import { WebhookAuthentication } from './webhook-authentication.js';

/** Rejects a request with 401 or 403, as its route declares, or with 429, before any of the body is read. */
@Injectable()
export class AuthenticationHook {
  constructor(
    private readonly authenticators: Authenticators,
    private readonly webhooks: WebhookAuthentication,
    private readonly shares: ConnectionShares,
  ) {}

  addTo(server: HttpServer): void {
    server.addHook('onRequest', (request, reply) => this.authenticate(request, reply));
    server.addHook('onRequest', ({ principal }, reply, done) => {
      done(principal === null ? undefined : this.shares.refusalOf(principal, reply));
    });
  }

  private async authenticate(request: ApiRequest, reply: ApiReply): Promise<void> {
    const { rules } = request.routeOptions.config;
    if (rules === undefined) throw unknownRoute();
    if (rules.accepts !== 'anyone' && rules.accepts.webhook === true)
      return this.webhooks.authenticate(request, reply);
    if (hasForbiddenCredential(request.query, rules.tokenInQuery === true)) {
      throw unauthenticated('Send credentials in the Authorization header, never in the address.');
    }
    if (rules.accepts === 'anyone') return;
    const credential = credentialOf(request, rules);
    if (credential === undefined && rules.accepts.anonymous === true) return;
    const principal = await identify(request, this.authenticators, credential);
    const refusal = accessRefusal(principal, rules.accepts);
    if (refusal !== undefined) throw refusal;
  }
}
