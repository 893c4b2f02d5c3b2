import { SECRET_PREFIXES } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { allowedOrigin } from '../allowed-origins.js';
import { GatewayConfig } from '../config.js';
import type { ApiReply, HttpServer, RouteRules } from './fastify-types.js';
import { pathOf } from './request-path.js';
import { RouteTable } from './route-table.js';

/** Request headers that pages may send besides those that browsers always allow. */
const REQUEST_HEADERS = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'if-range',
  'last-event-id',
  'range',
  'x-request-id',
].join(', ');

/** Response headers that pages may read besides those that browsers always expose. */
const RESPONSE_HEADERS = [
  'accept-ranges',
  'content-disposition',
  'content-range',
  'etag',
  'idempotent-replayed',
  'retry-after',
  'x-request-id',
].join(', ');

/** How long a browser may keep the answer to a preflight request. */
const MAX_AGE_SECONDS = 600;

const KEY = new RegExp(`^Bearer +${SECRET_PREFIXES.apiKey}_`, 'i');

/**
 * Lets pages of the origins in BERTH_ALLOWED_ORIGINS call the routes that accept tokens of end users (ADR 59). Browsers
 * keep all other responses from them, also those to keys, which belong on no page.
 */
@Injectable()
export class CrossOriginHook {
  constructor(
    private readonly config: GatewayConfig,
    private readonly routes: RouteTable,
  ) {}

  /** Must run before the hooks that refuse requests: a page must be able to read why. */
  addTo(server: HttpServer): void {
    if (this.config.allowedOrigins.length === 0) return;
    server.addHook('onRequest', (request, reply, done) => {
      const origin = allowedOrigin(this.config.allowedOrigins, request.headers.origin);
      const wanted = request.headers['access-control-request-method'];
      if (request.method === 'OPTIONS' && origin !== undefined && wanted !== undefined) {
        if (!this.routes.rulesOf(pathOf(request), wanted).some(acceptsTokens)) return done();
        showTo(origin, reply);
        void reply.code(204).headers(preflightHeaders(wanted)).send();
        return;
      }
      if (acceptsTokens(request.routeOptions.config.rules) && !KEY.test(request.headers.authorization ?? ''))
        showTo(origin, reply);
      done();
    });
  }
}

const acceptsTokens = (rules: RouteRules | undefined): boolean =>
  rules !== undefined && rules.accepts !== 'anyone' && rules.accepts.end_user !== undefined;

const showTo = (origin: string | undefined, reply: ApiReply): void => {
  reply.header('vary', 'Origin');
  if (origin === undefined) return;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', RESPONSE_HEADERS);
};

const preflightHeaders = (method: string): Readonly<Record<string, string>> => ({
  'access-control-allow-methods': method,
  'access-control-allow-headers': REQUEST_HEADERS,
  'access-control-max-age': String(MAX_AGE_SECONDS),
});
