import { isDomainError } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ConnectionShares } from '../auth/connection-shares.js';
import type { ApiReply, ApiRequest, HttpServer } from '../http/fastify-types.js';
import { LlmForwarder } from './llm-forwarder.js';

const PATH = /^\/agent\/v1\/llm\/(openai|anthropic)(?:[/?]|$)/;

/**
 * Takes the requests of the LLM route out of the pipeline: `llm` authenticates them, and refuses them in the shape that SDKs
 * understand.
 */
@Injectable()
export class LlmRouteHook {
  constructor(
    private readonly forwarder: LlmForwarder,
    private readonly shares: ConnectionShares,
    private readonly log: Logger,
  ) {}

  addTo(server: HttpServer): void {
    server.addHook('onRequest', (request, reply, done) => {
      const dialect = PATH.exec(request.raw.url ?? '')?.[1];
      if (dialect === undefined) return done();
      reply.hijack();
      // Only `llm` knows the account; it bounds what one account has of these.
      if (this.shares.hold(HOLDER, reply)) void this.serve(request, reply, dialect);
      else refuse(reply.raw, dialect, request.id, TOO_MANY);
    });
  }

  private async serve(request: ApiRequest, { raw: response }: ApiReply, dialect: string): Promise<void> {
    try {
      await this.forwarder.forward(request.raw, response, request.id);
    } catch (error) {
      if (!isDomainError(error)) this.log.warn({ err: error }, 'the LLM route cannot be reached');
      if (response.headersSent || response.destroyed) response.destroy();
      else refuse(response, dialect, request.id, UNAVAILABLE);
    }
  }
}

/** All calls of the route together hold one share of the connections. */
const HOLDER = 'llm';

interface RouteRefusal {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

const UNAVAILABLE: RouteRefusal = {
  status: 503,
  type: 'api_error',
  code: 'service_unavailable',
  message: 'A part of the service is not available right now. Try again in a moment.',
};
const TOO_MANY: RouteRefusal = {
  status: 429,
  type: 'rate_limit_error',
  code: 'rate_limited',
  message: 'Too many calls of models are open. Try again in a moment.',
};

const refuse = (
  response: ApiReply['raw'],
  dialect: string,
  requestId: string,
  { status, ...error }: RouteRefusal,
): void => {
  const text = JSON.stringify(
    dialect === 'openai' ? { error: { ...error, param: null } } : { type: 'error', error },
  );
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'retry-after': '1',
    'x-request-id': requestId,
  });
  response.end(text);
};
