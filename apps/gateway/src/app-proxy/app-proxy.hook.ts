import { STATUS_CODES } from 'node:http';
import { detach, isDomainError } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ConnectionShares } from '../auth/connection-shares.js';
import { rateRefusal } from '../auth/request-rate.js';
import { errorResponse } from '../http/error-response.js';
import type { ApiReply, ApiRequest, HttpServer } from '../http/fastify-types.js';
import { FIXED_HEADERS } from '../http/fixed-headers.js';
import { HttpRefusal } from '../http/http-refusal.js';
import { upgradeOf } from '../http/upgrades.js';
import { AppAccess } from './app-access.js';
import { AppEntrance } from './app-entrance.js';
import { AppForwarder } from './app-forwarder.js';
import { AppOrigins } from './app-origins.js';
import { ambiguityOf, crossSiteRefusal } from './app-request.js';
import { authorityOf, isReserved, ownPathOf, parseTarget, takeToken, type AppTarget } from './app-target.js';

/** Takes the requests to apps out of the pipeline, before a route is looked for. */
@Injectable()
export class AppProxyHook {
  constructor(
    private readonly origins: AppOrigins,
    private readonly access: AppAccess,
    private readonly entrance: AppEntrance,
    private readonly forwarder: AppForwarder,
    private readonly shares: ConnectionShares,
    private readonly log: Logger,
  ) {}

  /** Must run first: it tells the hooks after it which requests are for apps. */
  addRecognition(server: HttpServer): void {
    server.addHook('onRequest', (request, _reply, done) => {
      request.appLabel = this.labelOf(request);
      done();
    });
  }

  addTo(server: HttpServer): void {
    server.addHook('onRequest', (request, reply, done) => {
      if (request.appLabel === undefined) return done();
      reply.hijack();
      detach(this.serve(request, reply, request.appLabel));
    });
  }

  private labelOf({ raw, originalUrl }: ApiRequest): string | undefined {
    const authority = authorityOf(originalUrl);
    return (
      this.origins.labelOf(raw.headers.host ?? '') ??
      (authority === undefined ? undefined : this.origins.labelOf(authority))
    );
  }

  private async serve(request: ApiRequest, reply: ApiReply, label: string): Promise<void> {
    try {
      const target = parseTarget(request.originalUrl);
      const own = ownPathOf(target);
      if (own === 'enter') return await this.entrance.enter(request, reply, label, target);
      await this.proxy(request, reply, label, target);
    } catch (error) {
      this.refuse(request, reply, error);
    }
  }

  private async proxy(request: ApiRequest, reply: ApiReply, label: string, sent: AppTarget): Promise<void> {
    const { raw } = request;
    // A page cannot set the headers of a WebSocket.
    const taken = upgradeOf(raw) === undefined ? undefined : takeToken(sent);
    const target = taken?.rest ?? sent;
    const caller = await this.access.admit(request, label, { target, token: taken?.token });
    const origins = this.origins.ownOrigins(caller.agentId, raw.headers.host ?? '');
    const refusal =
      (caller.byCookie ? crossSiteRefusal(raw, origins) : undefined) ??
      (ownPathOf(target) !== undefined || isReserved(request.method, target) ? notForCallers() : undefined) ??
      ambiguityOf(raw, target) ??
      rateRefusal(caller.principal) ??
      this.shares.refusalOf(caller.principal, reply);
    if (refusal !== undefined) throw refusal;
    await this.forwarder.forward(request, reply, caller, target.target);
  }

  private refuse(request: ApiRequest, { raw: response }: ApiReply, error: unknown): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const isKnown = isDomainError(error) || error instanceof HttpRefusal;
    if (!isKnown) this.log.error({ err: error }, 'a request to an app failed');
    else if (error.cause !== undefined) this.log.warn({ err: error }, 'an app could not be reached');
    const { status, headers, body } = errorResponse(error);
    if (status === 403 && isKnown) request.refusalCode = error.code;
    // Whoever sent it may see its end elsewhere.
    if (status === 400 || status === 417) response.shouldKeepAlive = false;
    const text = JSON.stringify(body);
    response.writeHead(status, STATUS_CODES[status] ?? '', {
      ...FIXED_HEADERS,
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'x-request-id': request.id,
    });
    response.end(request.method === 'HEAD' ? undefined : text);
  }
}

const notForCallers = (): HttpRefusal =>
  new HttpRefusal(404, 'not_found', 'Berth keeps this path of the app for itself.');
