import type { HttpServer } from '../http/fastify-types.js';
import { HttpRefusal } from '../http/http-refusal.js';
import type { Principal } from './principal.js';

/** Refuses the requests of end users beyond their rate. All other refusals take precedence, so it runs late. */
export const addRequestRateHook = (server: HttpServer): void => {
  server.addHook('preHandler', ({ principal }, _reply, done) => done(rateRefusal(principal)));
};

/** 429 if the principal is an end user who has sent too many requests. */
export const rateRefusal = (principal: Principal | null): HttpRefusal | undefined => {
  if (principal?.kind !== 'end_user' || principal.retryAfterSeconds === null) return undefined;
  const message = 'The end user sends too many requests. Try again after the time in Retry-After.';
  const headers = { 'retry-after': String(principal.retryAfterSeconds) };
  return new HttpRefusal(429, 'rate_limited', message, {}, headers);
};
