import type { Scope } from '@berth/contracts/accounts';
import type { Effect } from '@berth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Access } from '../auth/access.js';
import type { Credential } from '../auth/credentials.js';
import type { Principal } from '../auth/principal.js';
import type { ErrorCode } from '../errors/error-codes.js';
import type { IdempotencyClaim } from '../idempotency/idempotent-responses.js';
import type { FieldProblem, HttpRefusal } from './http-refusal.js';
import type { LookUp, RouteResource } from './resource.js';

/** A JSON body that is read and validated before the handler runs. */
export interface JsonBody {
  readonly kind: 'json';
  readonly streamed?: false;
  readonly shape: TSchema;
  /** Members whose problems have codes of their own, most important first. */
  readonly codes?: Readonly<Record<string, ErrorCode>>;
  /** Rejects bodies with the route's own codes. Runs after `codes`; the body is an object that may be invalid. */
  readonly refusal?: (body: unknown) => HttpRefusal | undefined;
  /** Problems that no schema can express. The body may have other problems too. */
  readonly problems?: (body: unknown) => readonly FieldProblem[];
  /** Scopes that only some bodies need; checked before the body is validated. */
  readonly scopes?: (body: unknown) => readonly Scope[];
  /** Bytes; by default that of every JSON body. */
  readonly limitBytes?: number;
  /** Validates the body instead of `shape`, which only describes it then. The handler gets the result as the body. */
  readonly read?: (body: unknown, lookUp: LookUp) => Promise<unknown>;
}

/** A body that the handler reads itself, chunk by chunk. */
export interface StreamedBody {
  readonly kind: 'json' | 'multipart' | 'raw';
  readonly streamed: true;
  /** For the OpenAPI document; absent for bytes of any kind. */
  readonly shape?: TSchema;
}

/** A body of any type that is read whole, as bytes, before the handler runs. */
export interface BytesBody {
  readonly kind: 'bytes';
  readonly streamed?: false;
  readonly shape?: undefined;
  /** By default that of every JSON body. */
  readonly limitBytes?: number;
}

export type RouteBody = JsonBody | StreamedBody | BytesBody;

/** What each route declares in its Fastify route config. */
export interface RouteRules {
  readonly accepts: Access;
  /** Whether `?token=` may carry the credential; elsewhere such a request is 401. */
  readonly tokenInQuery?: boolean;
  readonly resources: readonly RouteResource[];
  /** Absent: the route takes no body and ignores one that is sent. */
  readonly body?: RouteBody;
  readonly query?: TSchema;
  /** The member of the response with the time at which the secret in it ends; it is not replayed any longer. */
  readonly answerEnds?: string;
  /** The member of the response with a key, a token or a viewer's URL; once that is not valid, it is not replayed. */
  readonly answerShows?: 'key' | 'token' | 'url';
  /** Path parameters that name no resource. */
  readonly params?: Readonly<Record<string, TSchema>>;
}

/** Whether the route's handler reads the body itself. */
export const isStreamed = (rules: RouteRules | undefined): boolean => rules?.body?.streamed === true;

declare module 'fastify' {
  interface FastifyContextConfig {
    rules?: RouteRules;
  }
  interface FastifyRequest {
    /** For a request to another origin than that of the API: the part of `Host` before the apps host, or `VIEWER_LABEL`. */
    appLabel: string | undefined;
    /** Set by the authentication hook on every route that does not accept anyone. */
    principal: Principal | null;
    /** The code of the 403 with which the request was refused. */
    refusalCode: string | undefined;
    /** The credential behind `principal`; open streams look it up again. */
    credential: Credential | undefined;
    /** The Content-Type that the client sent. A hook removes the header, so that Fastify does not evaluate it. */
    declaredType: string | undefined;
    /** SHA-256 of the body, hex; kept only for requests with an Idempotency-Key. */
    bodyDigest: string | undefined;
    /** Whether the handler has begun: before, a request has no effect. */
    hasBegun: boolean;
    /** What is known about the effect of a request whose response is an error; undefined: the error is its outcome. */
    effect: Effect | undefined;
    /** The row this request holds while it runs under an Idempotency-Key. */
    claim: IdempotencyClaim | undefined;
  }
}

/** The instance, to which hooks are added before any route. */
export type HttpServer = FastifyInstance;
export type ApiRequest = FastifyRequest;
export type ApiReply = FastifyReply;
