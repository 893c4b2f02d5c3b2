import { effectOf, isDomainError, type Effect } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { errorResponse, type ErrorResponse } from './error-response.js';
import type { ApiReply, ApiRequest } from './fastify-types.js';
import { idempotencyKeyOf } from '../idempotency/idempotency-key.js';
import { HttpRefusal } from './http-refusal.js';
import { wasLate } from './late-bodies.js';
import { hasBrokenPath } from './request-target.js';
import { paramsOf, type PathParams, type RouteResource } from './resource.js';

/** The statuses of the gateway's own errors over which a 404 takes precedence. */
const AFTER_NOT_FOUND: ReadonlySet<number> = new Set([400, 409, 413, 415, 417, 426, 429]);

/** The only place where errors of hooks, parsers and handlers become responses. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly requester: Requester,
    private readonly log: Logger,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.respond(error, http.getRequest(), http.getResponse()).catch((failure: unknown) =>
      this.log.error({ err: failure }, 'could not respond with an error'),
    );
  }

  private async respond(error: unknown, request: ApiRequest, reply: ApiReply): Promise<void> {
    if (brokeOffInBody(error, request)) {
      const what = wasLate(request.raw)
        ? 'a body did not arrive in time'
        : 'a client hung up in the middle of its body';
      this.log.info({ route: request.routeOptions?.url }, what);
      // No client reads it, but the reply must end.
      await reply.code(408).send();
      return;
    }
    if (reply.sent || reply.raw.headersSent) {
      this.log.error({ err: error }, 'failed after the response had begun');
      reply.raw.destroy();
      return;
    }
    const missing = await this.missingResource(error, request);
    request.effect = effectOn(request, error);
    const mayHaveBeenDone = request.effect === 'unknown' && !SAFE_METHODS.has(request.method);
    const response = errorResponse(missing?.notFound() ?? error, { mayHaveBeenDone });
    if (response.status === 500)
      this.log.error({ err: error, route: request.routeOptions?.url }, 'a request failed');
    if (response.status === 403) request.refusalCode = codeIn(response);
    await reply.code(response.status).headers(response.headers).send(response.body);
  }

  /** 404 takes precedence over the gateway's own rejections; the services check existence first themselves. */
  private async missingResource(error: unknown, request: ApiRequest): Promise<RouteResource | undefined> {
    const { principal, raw } = request;
    const isOurs = !isDomainError(error) && AFTER_NOT_FOUND.has(errorResponse(error).status);
    if (!isOurs || principal === null || hasBrokenPath(raw)) return undefined;
    for (const resource of request.routeOptions.config.rules?.resources ?? []) {
      const found = await this.exists(resource, principal, paramsOf(request));
      if (!found) return resource;
    }
    return undefined;
  }

  /** If the lookup fails, the original error is returned. */
  private async exists(resource: RouteResource, principal: Principal, params: PathParams): Promise<boolean> {
    try {
      await resource.lookUp?.(this.requester, principal, params);
      return true;
    } catch (failure) {
      return !isDomainError(failure, 'not_found');
    }
  }
}

/** RFC 9110 §9.2.1: they change nothing. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What is known about the effect of a request that failed with `error`, under its Idempotency-Key if it has one. */
const effectOn = (request: ApiRequest, error: unknown): Effect | undefined => {
  const { hasBegun, claim } = request;
  const { status } = errorResponse(error);
  // Nobody has looked whether there were earlier attempts.
  if (claim === undefined && idempotencyKeyOf(request) !== undefined)
    return status >= 500 ? 'unknown' : 'none';
  if (!hasBegun) return 'none';
  const isInternal = !isDomainError(error) && status === 500;
  const effect = isDomainError(error) || isInternal ? effectOf(error) : undefined;
  // An earlier attempt may have done what this one is refused.
  return claim?.repeated === true && effect !== 'final' ? 'unknown' : effect;
};

/** Whether the request broke off in its body and the error has no other cause. */
const brokeOffInBody = (error: unknown, { raw }: ApiRequest): boolean => {
  if (raw.complete || !raw.destroyed) return false;
  return (
    error instanceof HttpRefusal || (error instanceof Error && 'code' in error && error.code === 'ECONNRESET')
  );
};

const codeIn = ({ body: { detail } }: ErrorResponse): string | undefined =>
  typeof detail === 'object' && detail !== null && 'code' in detail && typeof detail['code'] === 'string'
    ? detail['code']
    : undefined;
