import { createHash } from 'node:crypto';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerIdOf } from '../auth/principal.js';
import { invalidRequest, type HttpRefusal } from '../http/http-refusal.js';
import { isStreamed, type HttpServer } from '../http/fastify-types.js';
import { pathOf } from '../http/request-path.js';
import { Validator } from '../validation/validator.js';
import { IDEMPOTENCY_KEY } from './idempotency-key.js';
import { IdempotentResponses, type StoredResponse } from './idempotent-responses.js';

/** Response headers that are stored; all others depend on the request. */
const STORED_HEADERS = ['content-type', 'location'] as const;

/** SHA-256 of nothing: a POST without a body. */
const EMPTY_DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * `Idempotency-Key` on every authenticated POST. Runs after validation, so that an invalid request is reported before a
 * reused key, and before the handler.
 */
@Injectable()
export class IdempotencyHooks {
  constructor(
    private readonly responses: IdempotentResponses,
    private readonly log: Logger,
  ) {}

  addTo(server: HttpServer): void {
    server.addHook('preHandler', (request, reply, done) => {
      const key = request.headers['idempotency-key'];
      if (key === undefined || request.method !== 'POST' || request.principal === null) return done();
      if (isStreamed(request.routeOptions.config.rules)) return done(keyProblem(String(key)));
      claimOrReplay(this.responses, request, reply, request.bodyDigest ?? EMPTY_DIGEST).then(
        (isClaimed) => (isClaimed ? done() : undefined),
        (error: Error) => done(error),
      );
    });
    server.addHook('onSend', (request, reply, payload: unknown, done) => {
      if (request.claim === undefined) return done(null, payload);
      settle(this.responses, request, reply, payload)
        // The request took effect even if its response is not stored; the service recognises a retry by its command id.
        .catch((error: unknown) => this.log.warn({ err: error }, 'could not store an idempotent response'))
        .finally(() => done(null, payload));
    });
  }
}

/**
 * Claims the request's Idempotency-Key for a body with that digest (SHA-256, hex). Returns true if the request must be
 * handled, also without the header, and false if a stored response was sent instead. Routes that stream their body call
 * it themselves, once they have read it.
 */
export const claimOrReplay = async (
  responses: IdempotentResponses,
  request: FastifyRequest,
  reply: FastifyReply,
  bodyDigest: string,
): Promise<boolean> => {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return true;
  const key = String(header);
  const problem = keyProblem(key);
  if (problem !== undefined) throw problem;
  const caller = request.principal === null ? '' : callerIdOf(request.principal);
  const scope = { caller, route: routeOf(request), key };
  const claimed = await responses.claim(scope, bodyDigest);
  if ('claim' in claimed) {
    request.claim = claimed.claim;
    return true;
  }
  replay(reply, claimed.kept);
  return false;
};

/** A path may be as long as all headers; an entry of an index must be shorter. */
const MAX_ROUTE_CHARS = 512;

const routeOf = (request: FastifyRequest): string => {
  const route = `${request.method} ${pathOf(request)}`;
  return route.length <= MAX_ROUTE_CHARS ? route : createHash('sha256').update(route).digest('hex');
};

const keyProblem = (key: string): HttpRefusal | undefined => {
  const { problems } = Validator.for(IDEMPOTENCY_KEY).validate(key, 'Idempotency-Key');
  return problems.length === 0 ? undefined : invalidRequest(problems);
};

const replay = (reply: FastifyReply, { status, headers, body }: StoredResponse): void => {
  void reply.code(status).headers(headers).header('idempotent-replayed', 'true').send(body);
};

/** The time in a member of a response. */
const endIn = (body: string, member: string | undefined): string | null => {
  if (member === undefined) return null;
  const value = (JSON.parse(body) as Readonly<Record<string, unknown>>)[member];
  return typeof value === 'string' ? value : null;
};

const settle = async (
  responses: IdempotentResponses,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<void> => {
  const { claim } = request;
  if (claim === undefined) return;
  request.claim = undefined;
  const status = reply.statusCode;
  if (status < 200 || status > 299)
    return responses.free(claim, request.outcomeUnknown ? 'unknown' : 'refused');
  const headers: Record<string, string> = {};
  for (const name of STORED_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  const body = typeof payload === 'string' ? payload : '';
  const member = request.routeOptions.config.rules?.answerEnds;
  return responses.keep(claim, { status, headers, body, endsAt: endIn(body, member) });
};
