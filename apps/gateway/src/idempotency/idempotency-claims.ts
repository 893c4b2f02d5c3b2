import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerIdOf } from '../auth/principal.js';
import { ShownSecrets } from '../auth/shown-secrets.js';
import { invalidRequest, type HttpRefusal } from '../http/http-refusal.js';
import { pathOf } from '../http/request-path.js';
import { paramsOf } from '../http/resource.js';
import { Validator } from '../validation/validator.js';
import { IDEMPOTENCY_KEY } from './idempotency-key.js';
import { IdempotentResponses, type StoredResponse } from './idempotent-responses.js';

/** Claims the Idempotency-Keys of requests, or sends the stored responses. */
@Injectable()
export class IdempotencyClaims {
  constructor(
    private readonly responses: IdempotentResponses,
    private readonly secrets: ShownSecrets,
  ) {}

  /**
   * Claims the request's Idempotency-Key for a body with that digest (SHA-256, hex). Returns true if the request must be
   * handled, also without the header, and false if a stored response was sent instead. Routes that stream their body call
   * it themselves, once they have read it. Errors: those of `IdempotentResponses.claim`; unavailable.
   */
  async claimOrReplay(request: FastifyRequest, reply: FastifyReply, bodyDigest: string): Promise<boolean> {
    const header = request.headers['idempotency-key'];
    if (header === undefined) return true;
    const caller = request.principal === null ? '' : callerIdOf(request.principal);
    const scope = { caller, route: routeOf(request), key: String(header) };
    const claimed = await this.responses.claim(scope, bodyDigest);
    if ('claim' in claimed) {
      request.claim = claimed.claim;
      return true;
    }
    if (!(await this.isValid(request, claimed.kept))) return this.responses.end(scope);
    replay(reply, claimed.kept);
    return false;
  }

  /** Whether the key or token in a stored response, if there is one, is still valid. */
  private async isValid(request: FastifyRequest, { body }: StoredResponse): Promise<boolean> {
    const member = request.routeOptions.config.rules?.answerShows;
    if (member === undefined) return true;
    const secret = (JSON.parse(body) as Readonly<Record<string, unknown>>)[member];
    return this.secrets.isValid(String(secret), paramsOf(request)['agent_id'] ?? '');
  }
}

/** The 400 of a bad Idempotency-Key. */
export const keyProblem = (key: string | readonly string[]): HttpRefusal | undefined => {
  const { problems } = Validator.for(IDEMPOTENCY_KEY).validate(String(key), 'Idempotency-Key');
  return problems.length === 0 ? undefined : invalidRequest(problems);
};

/** A path may be as long as all headers; an entry of an index must be shorter. */
const MAX_ROUTE_CHARS = 512;

const routeOf = (request: FastifyRequest): string => {
  const route = `${request.method} ${pathOf(request)}`;
  return route.length <= MAX_ROUTE_CHARS ? route : createHash('sha256').update(route).digest('hex');
};

const replay = (reply: FastifyReply, { status, headers, body }: StoredResponse): void => {
  void reply.code(status).headers(headers).header('idempotent-replayed', 'true').send(body);
};
