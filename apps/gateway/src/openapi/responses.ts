import type { ApiResponseOptions } from '@nestjs/swagger';
import { keyScopesOf, type AcceptedPrincipals, type Access } from '../auth/access.js';
import { describeErrorCode, type ErrorCode } from '../errors/error-codes.js';
import { LITERAL_DETAILS } from '../http/literal-details.js';

/** A success response. */
export interface ResponseDescription {
  readonly status: number;
  readonly description: string;
  /** Name of a schema of the document; absent for an empty response. */
  readonly schema?: string;
  /** Whether the response carries `Location`. */
  readonly location?: boolean;
  /** Bytes of any type instead of JSON. */
  readonly binary?: boolean;
  /** Media types besides JSON, e.g. `text/event-stream`. */
  readonly alsoAs?: string | readonly string[];
}

export interface EndpointFacts {
  readonly accepts: Access;
  readonly responses: readonly ResponseDescription[];
  /** Codes of the endpoint's own errors. */
  readonly errors: readonly ErrorCode[];
  readonly hasBody: boolean;
  readonly hasInput: boolean;
  readonly isPost: boolean;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'No valid credential',
  403: 'The credential does not permit this',
  404: 'The resource does not exist',
  408: 'The body did not arrive in time',
  409: 'The request conflicts with the current state',
  413: 'The body is too large',
  415: 'The type of the body is not supported',
  416: 'The file has no bytes in the requested range',
  426: 'The endpoint accepts WebSocket upgrades only',
  429: 'Too many requests; see Retry-After',
  501: 'This agent cannot do that',
  500: 'An internal error occurred',
  502: 'The agent or its model failed',
  503: 'A part of the service is not available; see Retry-After',
  504: 'The response did not arrive in time',
  507: "The agent's volume is full",
};

/** Every response of an endpoint for OpenAPI, including those that any endpoint has. */
export const describeResponses = (facts: EndpointFacts): readonly ApiResponseOptions[] => [
  ...facts.responses.map(describeResponse),
  ...[...codesByStatus(facts)]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => describeError(status, codes)),
];

const describeResponse = (response: ResponseDescription): ApiResponseOptions => ({
  status: response.status,
  description: response.description,
  headers: {
    ...REQUEST_ID,
    ...(response.location === true
      ? { Location: { description: 'The path of the created resource.', schema: { type: 'string' } } }
      : {}),
  },
  ...(response.binary === true
    ? { content: { '*/*': { schema: { type: 'string', format: 'binary' } } } }
    : {}),
  ...(response.schema === undefined ? {} : { content: contentOf(response.schema, response.alsoAs) }),
});

const REQUEST_ID = {
  'X-Request-Id': {
    description: 'The id of this request in logs and traces.',
    schema: { type: 'string' as const },
  },
};

const contentOf = (schema: string, alsoAs: string | readonly string[] = []) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
  ...Object.fromEntries([alsoAs].flat().map((type) => [type, { schema: { type: 'string' as const } }])),
});

const describeError = (status: number, codes: ReadonlySet<string>): ApiResponseOptions => ({
  status,
  description: `${REASONS[status] ?? 'Error'}: ${[...codes].map(nameOf).join(', ')}.`,
  headers: {
    ...REQUEST_ID,
    ...(status === 401 ? { 'WWW-Authenticate': { description: 'Bearer', schema: { type: 'string' } } } : {}),
    ...(status === 429 || status === 503
      ? { 'Retry-After': { description: 'Whole seconds to wait.', schema: { type: 'integer', minimum: 1 } } }
      : {}),
  },
  content: { 'application/json': { schema: { anyOf: errorSchemas(status, codes) } } },
});

/** Callers never see the code of an error whose detail is a text. */
const nameOf = (code: string): string => {
  const detail = LITERAL_DETAILS[code]?.detail;
  return typeof detail === 'string' ? `the text "${detail}"` : `\`${code}\``;
};

/** An error with a literal detail has exactly that schema; all others share one. */
const errorSchemas = (status: number, codes: ReadonlySet<string>) => {
  const literals = [...codes].flatMap((code) => LITERAL_DETAILS[code] ?? []);
  const exact = literals.map(({ detail }) => ({
    type: 'object',
    properties: { detail: { enum: [detail] } },
    required: ['detail'],
  }));
  if (literals.length === codes.size) return exact;
  return [{ $ref: `#/components/schemas/${status === 400 ? 'InvalidRequest' : 'Error'}` }, ...exact];
};

const codesByStatus = (facts: EndpointFacts): ReadonlyMap<number, ReadonlySet<string>> => {
  const codes = new Map<number, Set<string>>();
  for (const code of codesOf(facts)) {
    const { status } = describeErrorCode(code);
    codes.set(status, (codes.get(status) ?? new Set()).add(code));
  }
  return codes;
};

/** Every error code of an endpoint, those that any endpoint has included. */
export const codesOf = ({
  accepts,
  errors,
  hasBody,
  hasInput,
  isPost,
}: EndpointFacts): readonly ErrorCode[] => [
  ...(hasInput || isPost ? (['invalid_request'] as const) : []),
  ...(accepts === 'anyone' ? [] : accessCodes(accepts)),
  ...(isPost ? (['idempotency_key_reused', 'idempotency_in_progress'] as const) : []),
  ...(hasBody || isPost ? (['request_timeout', 'payload_too_large', 'unsupported_media_type'] as const) : []),
  ...errors,
  'internal_error',
  'service_unavailable',
  'deadline_exceeded',
];

const accessCodes = (accepts: AcceptedPrincipals): readonly ErrorCode[] => [
  'unauthenticated',
  'rate_limited',
  ...(accepts.key === undefined ? [] : (['account_suspended'] as const)),
  ...(accepts.end_user === undefined ? [] : (['end_user_suspended'] as const)),
  ...(keyScopesOf(accepts).some((scope) => scope !== 'read') ? (['missing_scope'] as const) : []),
  ...(accepts.end_user === undefined ? [] : (['token_scope'] as const)),
];
