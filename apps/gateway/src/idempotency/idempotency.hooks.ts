import type { Effect } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isStreamed, type HttpServer } from '../http/fastify-types.js';
import { IdempotencyClaims, keyProblem } from './idempotency-claims.js';
import { idempotencyKeyOf } from './idempotency-key.js';
import { IdempotentResponses, type IdempotencyClaim } from './idempotent-responses.js';

/** Response headers that are stored; all others depend on the request. */
const STORED_HEADERS = ['content-type', 'location'] as const;

/** SHA-256 of nothing: a POST without a body. */
const EMPTY_DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** `Idempotency-Key` on every authenticated POST. */
@Injectable()
export class IdempotencyHooks {
  constructor(
    private readonly responses: IdempotentResponses,
    private readonly claims: IdempotencyClaims,
    private readonly log: Logger,
  ) {}

  /** 400 for a bad key. */
  addValidation(server: HttpServer): void {
    server.addHook('preHandler', (request, _reply, done) => {
      const key = request.principal === null ? undefined : idempotencyKeyOf(request);
      done(key === undefined ? undefined : keyProblem(key));
    });
  }

  /**
   * Claims keys. Runs after every check that this gateway makes itself, so that an invalid request is reported before a
   * reused key, and a request that is refused here leaves the key as it was.
   */
  addClaims(server: HttpServer): void {
    server.addHook('preHandler', (request, reply, done) => {
      const isKeyed = request.principal !== null && idempotencyKeyOf(request) !== undefined;
      if (!isKeyed || isStreamed(request.routeOptions.config.rules)) return done();
      this.claims.claimOrReplay(request, reply, request.bodyDigest ?? EMPTY_DIGEST).then(
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

/** The time in a member of a response. */
const endIn = (body: string, member: string | undefined): string | null => {
  if (member === undefined) return null;
  const value = (JSON.parse(body) as Readonly<Record<string, unknown>>)[member];
  return typeof value === 'string' ? value : null;
};

/** Whether an attempt under the key may have taken effect: then the next one must carry the same command id. */
const isOpen = ({ repeated }: IdempotencyClaim, effect: Effect | undefined): boolean =>
  repeated ? effect !== 'final' : effect === 'unknown';

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
    return isOpen(claim, request.effect) ? responses.release(claim) : responses.free(claim);
  const headers: Record<string, string> = {};
  for (const name of STORED_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  const body = typeof payload === 'string' ? payload : '';
  const member = request.routeOptions.config.rules?.answerEnds;
  return responses.keep(claim, { status, headers, body, endsAt: endIn(body, member) });
};
