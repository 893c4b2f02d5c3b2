import type { Principal, Scope } from '@berth/contracts/accounts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IdempotencyClaim } from '../idempotency/idempotent-answers.js';
import type { HttpRefusal } from './http-refusal.js';
import type { DtoClass } from '../validation/dto-validation.js';
import type { TextRule } from '../validation/text-rule.js';

/** Who may call a route: nobody is asked, any key (`read`), or a key that holds the scope. */
export type Access = 'public' | Scope;

/** What each route states in its Fastify route config. */
export interface RouteRules {
  readonly access: Access;
  /** What its JSON must look like; `stream` leaves the body to the handler, unread. */
  readonly body?: DtoClass | 'stream';
  /** Refuses bodies with codes of the endpoint's own, before `body` names what else is wrong. */
  readonly bodyRefusal?: (body: unknown) => HttpRefusal | undefined;
  /** Bytes; other than that of every JSON body. */
  readonly bodyLimit?: number;
  readonly query?: DtoClass;
  /** What path parameters must look like that are no ids. */
  readonly params?: Readonly<Record<string, TextRule>>;
  /** Scopes that only some bodies need; looked at before the body is validated. */
  readonly bodyScopes?: (body: unknown) => readonly Scope[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    rules?: RouteRules;
  }
  interface FastifyRequest {
    /** Set by the authentication hook on every route that is not public. */
    principal: Principal | null;
    /** The Content-Type as it was sent; the header itself is taken away before Fastify judges it. */
    declaredType: string | undefined;
    /** SHA-256 of the body, hex; kept only for requests with an Idempotency-Key. */
    bodyDigest: string | undefined;
    /** Whether the request may have taken effect although its answer is an error. */
    outcomeUnknown: boolean;
    /** The row this request holds while it runs under an Idempotency-Key. */
    claim: IdempotencyClaim | undefined;
  }
}

/** Hooks are added to it before any route is. */
export type HttpServer = FastifyInstance;
export type ApiRequest = FastifyRequest;
export type ApiReply = FastifyReply;
