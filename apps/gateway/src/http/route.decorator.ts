import 'reflect-metadata';
import { applyDecorators, HttpCode } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiHeader, ApiOperation, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { keyScopesOf, type Access } from '../auth/access.js';
import type { PrincipalKind } from '../auth/principal.js';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency-key.js';
import type { ErrorCode } from '../errors/error-codes.js';
import { describeInput } from '../openapi/input.js';
import { codesOf, describeResponses, type ResponseDescription } from '../openapi/responses.js';
import type { RouteRules } from './fastify-types.js';
import type { RouteResource } from './resource.js';

/** Everything that the gateway knows about one route. Hooks and the OpenAPI document read this and nothing else. */
export interface RouteDeclaration extends Omit<RouteRules, 'resources'> {
  /** The resources in the path, from left to right. */
  readonly resource?: RouteResource | readonly RouteResource[];
  readonly summary: string;
  readonly description?: string;
  /** The success responses, by status; the first is the default. */
  readonly responses: readonly ResponseDescription[];
  /** Error codes specific to this route. Those of every route are added. */
  readonly errors?: readonly ErrorCode[];
}

/**
 * Declares a route: which principals it accepts and the scope each needs, the resource its path names, its body and
 * query, its responses and errors. Goes above `@Get`, `@Post` and the like.
 */
export const Route = (declaration: RouteDeclaration): MethodDecorator => {
  const {
    resource = [],
    summary,
    description: _description,
    responses,
    errors: _errors,
    ...rest
  } = declaration;
  const rules: RouteRules = { ...rest, resources: [resource].flat() };
  return applyDecorators(
    RouteConfig({ rules }),
    HttpCode(responses[0]?.status ?? 200),
    ApiOperation({ summary, description: describe(declaration) }),
    ApiExtension('x-required-scope', scopeNameOf(declaration.accepts)),
    ...kindsOf(declaration.accepts).map((kind) => ApiSecurity(SECURITY_SCHEME_OF[kind])),
    ...describeInput(declaration),
    withIdempotencyKey,
    documentResponses(declaration),
  );
};

/** Names of the security schemes in the OpenAPI document. */
export const SECURITY_SCHEME_OF: Readonly<Record<PrincipalKind, string>> = {
  key: 'apiKey',
  end_user: 'endUserToken',
  agent: 'agentToken',
  webhook: 'webhookToken',
};

const KINDS: readonly PrincipalKind[] = ['key', 'end_user', 'agent', 'webhook'];

const kindsOf = (accepts: Access): readonly PrincipalKind[] =>
  accepts === 'anyone' ? [] : KINDS.filter((kind) => accepts[kind] !== undefined);

const scopeNameOf = (accepts: Access): string => {
  if (accepts === 'anyone' || accepts.anonymous === true) return 'public';
  return accepts.agent === true ? 'agent' : keyScopesOf(accepts).join(' ');
};

const describe = ({ description = '', accepts }: RouteDeclaration): string =>
  [description, whoMayCall(accepts)].filter((text) => text !== '').join('\n\n');

const whoMayCall = (accepts: Access): string => {
  if (accepts === 'anyone') return 'No authentication.';
  const scopes = keyScopesOf(accepts).filter((scope) => scope !== 'read');
  const keys =
    scopes.length === 0 ? 'Any key.' : `Scope ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`;
  const { end_user: tokenScope } = accepts;
  return [
    ...(accepts.key === undefined ? [] : [keys]),
    ...(tokenScope === undefined
      ? []
      : [tokenScope === 'any' ? 'Any end-user token.' : `End-user tokens with \`${tokenScope}\`.`]),
    ...(accepts.agent === true ? ["The agent's own token."] : []),
    ...(accepts.webhook === true ? ["The agent's webhook token, and no key."] : []),
  ].join(' ');
};

/** Metadata of a handler: all error codes of its route. `docs/errors.md` is generated from it. */
export const ERROR_CODES_OF_ROUTE = 'berth:error-codes';

const POST = 1;

const isPost = (handler: unknown): boolean =>
  typeof handler === 'function' && Reflect.getMetadata('method', handler) === POST;

/** Method decorators run from last to first, so `@Post` must be below `@Route`. */
const withIdempotencyKey: MethodDecorator = (target, key, descriptor) => {
  if (!isPost(descriptor.value)) return;
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'The same key and body within 24 h replay the first 2xx response with `Idempotent-Replayed: true`. Idempotency keys are separate for each API key and path.',
    schema: IDEMPOTENCY_KEY,
  })(target, key, descriptor);
};

const documentResponses = (declaration: RouteDeclaration): MethodDecorator => {
  return (target, key, descriptor) => {
    const { accepts, body, query, params } = declaration;
    const facts = {
      accepts,
      responses: declaration.responses,
      errors: declaration.errors ?? [],
      hasBody: body !== undefined,
      hasInput: [body, query, params].some((rule) => rule !== undefined),
      isPost: isPost(descriptor.value),
    };
    if (descriptor.value !== undefined)
      Reflect.defineMetadata(ERROR_CODES_OF_ROUTE, codesOf(facts), Object(descriptor.value));
    for (const response of describeResponses(facts)) ApiResponse(response)(target, key, descriptor);
  };
};
