import 'reflect-metadata';
import { applyDecorators, HttpCode } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiExtension, ApiHeader, ApiOperation, ApiParam, ApiResponse } from '@nestjs/swagger';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency-key.js';
import { describeAnswers, type AnswerDescription } from '../openapi/answers.js';
import { textSchema } from '../validation/text-schema.js';
import type { RouteRules } from './fastify-types.js';

export interface EndpointOptions extends RouteRules {
  readonly summary: string;
  readonly description?: string;
  /** The answers that are no errors, by status; the first is the usual one. */
  readonly answers: readonly AnswerDescription[];
  /** Error codes of this endpoint's own, by status. Those that any endpoint has are added. */
  readonly errors?: Readonly<Record<number, readonly string[]>>;
}

/**
 * One endpoint of the API: who may call it, what its body and query must look like, what it answers. The rules become
 * Fastify route config, where the hooks find them; the rest becomes the OpenAPI document.
 */
export const Endpoint = (options: EndpointOptions): MethodDecorator => {
  const { access, body, query, params, bodyScopes, bodyRefusal, bodyLimit } = options;
  const rules: RouteRules = {
    access,
    ...(body === undefined ? {} : { body }),
    ...(query === undefined ? {} : { query }),
    ...(params === undefined ? {} : { params }),
    ...(bodyScopes === undefined ? {} : { bodyScopes }),
    ...(bodyRefusal === undefined ? {} : { bodyRefusal }),
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
  };
  const first = options.answers[0];
  return applyDecorators(
    RouteConfig({ rules }),
    HttpCode(first?.status ?? 200),
    ApiOperation({ summary: options.summary, description: describe(options) }),
    ApiExtension('x-required-scope', access),
    ...(access === 'public' ? [] : [ApiBearerAuth('apiKey')]),
    ...Object.entries(params ?? {}).map(([name, rule]) => ApiParam({ name, schema: textSchema(rule) })),
    withIdempotencyKey,
    documentAnswers(options),
  );
};

const describe = ({ description = '', access }: EndpointOptions): string => {
  const who =
    access === 'public' ? 'No authentication.' : access === 'read' ? 'Any key.' : `Scope \`${access}\`.`;
  return description === '' ? who : `${description}\n\n${who}`;
};

const POST = 1;

const isPost = (handler: unknown): boolean =>
  typeof handler === 'function' && Reflect.getMetadata('method', handler) === POST;

/** Method decorators run from the last to the first, so `@Post` must stand below `@Endpoint`. */
const withIdempotencyKey: MethodDecorator = (target, key, descriptor) => {
  if (!isPost(descriptor.value)) return;
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'The same key and body within 24 h replay the first 2xx answer with `Idempotent-Replayed: true`. Keys count per API key and path.',
    schema: textSchema(IDEMPOTENCY_KEY),
  })(target, key, descriptor);
};

const documentAnswers = (options: EndpointOptions): MethodDecorator => {
  return (target, key, descriptor) => {
    const answers = describeAnswers({
      access: options.access,
      answers: options.answers,
      errors: options.errors ?? {},
      hasBody: options.body !== undefined,
      hasInput: [options.body, options.query, options.params].some((rule) => rule !== undefined),
      isPost: isPost(descriptor.value),
    });
    for (const answer of answers) ApiResponse(answer)(target, key, descriptor);
  };
};
