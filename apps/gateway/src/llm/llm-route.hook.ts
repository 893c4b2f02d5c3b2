import { detach, isDomainError } from '@berth/kernel';
import { UnfitRequest } from '@berth/sockets';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ConnectionShares } from '../auth/connection-shares.js';
import type { ApiReply, ApiRequest, HttpServer } from '../http/fastify-types.js';
import { hostRefusal } from '../http/host-header.js';
import { HttpRefusal, unfitRequest } from '../http/http-refusal.js';
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
      if (this.shares.hold(HOLDER, reply)) detach(this.serve(request, reply, dialect));
      else refuse(reply.raw, dialect, request.id, TOO_MANY);
    });
  }

  private async serve(request: ApiRequest, { raw: response }: ApiReply, dialect: string): Promise<void> {
    try {
      const refusal = hostRefusal(request.raw);
      if (refusal !== undefined) throw refusal;
      await this.forwarder.forward({ request: request.raw, response }, request.id);
    } catch (error) {
      const refusal = error instanceof UnfitRequest ? unfitRequest(error.problem) : error;
      const isCallers = refusal instanceof HttpRefusal;
      // A caller that has hung up says nothing about `llm`.
      if (!isCallers && !isDomainError(error) && !response.destroyed)
        this.log.warn({ err: error }, 'the LLM route cannot be reached');
      if (response.headersSent || response.destroyed) response.destroy();
      else refuse(response, dialect, request.id, isCallers ? refusal : UNAVAILABLE);
    }
  }
}

/** All calls of the route together hold one share of the connections. */
const HOLDER = 'llm';

const UNAVAILABLE = new HttpRefusal(
  503,
  'service_unavailable',
  'A part of the service is not available right now. Try again in a moment.',
  {},
  { 'retry-after': '1' },
);
const TOO_MANY = new HttpRefusal(
  429,
  'rate_limited',
  'Too many calls of models are open. Try again in a moment.',
  {},
  { 'retry-after': '1' },
);

const typeOf = (status: number): string => {
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'api_error';
};

const refuse = (
  response: ApiReply['raw'],
  dialect: string,
  requestId: string,
  { status, code, message, headers }: HttpRefusal,
): void => {
  const error = { message, type: typeOf(status), code };
  const text = JSON.stringify(
    dialect === 'openai' ? { error: { ...error, param: null } } : { type: 'error', error },
  );
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-request-id': requestId,
  });
  response.end(text);
};
