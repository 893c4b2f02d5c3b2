import { Injectable } from '@nestjs/common';
import { AuthenticationHook } from '../auth/authenticate.hook.js';
import { addRequestRateHook } from '../auth/request-rate.js';
import { GatewayConfig } from '../config.js';
import { IdempotencyHooks } from '../idempotency/idempotency.hooks.js';
import { ValidationHook } from '../validation/validate.hook.js';
import { addDeclarationCheck } from './declaration-check.js';
import { addContinueHook } from './expectations.js';
import { prepareRequests } from './fastify-server.js';
import type { HttpServer } from './fastify-types.js';
import { addBodyDeadlines } from './late-bodies.js';
import { addBeginHook, addContextHook, addRequestLineHook } from './request-hooks.js';
import { ResponseHooks } from './response.hooks.js';
import { RoutingHooks } from './routing.hooks.js';

/** The Fastify hooks of the gateway, in the order in which a request passes them (README.md). */
@Injectable()
export class RequestPipeline {
  constructor(
    private readonly config: GatewayConfig,
    private readonly routing: RoutingHooks,
    private readonly authentication: AuthenticationHook,
    private readonly validation: ValidationHook,
    private readonly idempotency: IdempotencyHooks,
    private readonly responses: ResponseHooks,
  ) {}

  /** Must run before the first route is registered. */
  install(server: HttpServer): void {
    prepareRequests(server);
    this.routing.addRecognition(server);
    addContextHook(server, { tracing: this.config.otlpEndpoint !== undefined });
    this.routing.addTo(server);
    addDeclarationCheck(server);
    this.authentication.addTo(server);
    addRequestLineHook(server);
    addContinueHook(server);
    addBodyDeadlines(server, { bodyMs: this.config.clientTimeoutMs });
    this.validation.addTo(server);
    this.idempotency.addValidation(server);
    addRequestRateHook(server);
    this.idempotency.addClaims(server);
    addBeginHook(server);
    this.responses.addTo(server);
  }
}
