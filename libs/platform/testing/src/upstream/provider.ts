import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect, StreamPart } from './behaviour.js';

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'invalid_request_error',
  403: 'invalid_request_error',
  404: 'invalid_request_error',
  400: 'invalid_request_error',
  429: 'requests',
  500: 'server_error',
  503: 'server_error',
};
const OPENAI_CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};
const REQUEST_ID = 'req_011CSHoEeqs5C35K2UUqR7Fy';
const RESET = '2026-01-01T00:00:00Z';

/** An error's body. */
export const errorBody = (
  dialect: Dialect,
  status: number,
  message: string,
  param: string | null = null,
): object =>
  dialect === 'openai'
    ? {
        error: {
          message,
          type: OPENAI_TYPES[status] ?? 'server_error',
          param,
          code: OPENAI_CODES[status] ?? null,
        },
      }
    : {
        type: 'error',
        error: { type: ANTHROPIC_TYPES[status] ?? 'api_error', message },
        request_id: REQUEST_ID,
      };

/** An error within a stream. */
export const errorPart = (dialect: Dialect, message: string): StreamPart => {
  const data = errorBody(dialect, dialect === 'openai' ? 500 : 529, message);
  return dialect === 'openai' ? { data } : { event: 'error', data };
};

/** The headers of every response, including those that only concern the provider's customer. */
export const providerHeaders = (dialect: Dialect, status: number): Readonly<Record<string, string>> => ({
  'set-cookie': '__cf_bm=upstream-cookie; path=/; HttpOnly; Secure; SameSite=None',
  server: 'cloudflare',
  'cf-ray': '95a1b2c3d4e5f6a7-FRA',
  ...(dialect === 'openai' ? OPENAI_HEADERS : ANTHROPIC_HEADERS),
  ...(status === 429 && { 'retry-after': '7' }),
});

const OPENAI_HEADERS = {
  'x-request-id': REQUEST_ID,
  'openai-organization': 'upstream-organization',
  'openai-project': 'proj_upstream',
  'openai-processing-ms': '12',
  'openai-version': '2020-10-01',
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-limit-tokens': '2000000',
  'x-ratelimit-remaining-requests': '9999',
  'x-ratelimit-remaining-tokens': '1999900',
  'x-ratelimit-reset-requests': '6ms',
  'x-ratelimit-reset-tokens': '3ms',
};

const ANTHROPIC_HEADERS = {
  'request-id': REQUEST_ID,
  'anthropic-organization-id': 'upstream-organization',
  'anthropic-ratelimit-requests-limit': '4000',
  'anthropic-ratelimit-requests-remaining': '3999',
  'anthropic-ratelimit-requests-reset': RESET,
  'anthropic-ratelimit-input-tokens-limit': '400000',
  'anthropic-ratelimit-input-tokens-remaining': '399000',
  'anthropic-ratelimit-input-tokens-reset': RESET,
  'anthropic-ratelimit-output-tokens-limit': '80000',
  'anthropic-ratelimit-output-tokens-remaining': '79000',
  'anthropic-ratelimit-output-tokens-reset': RESET,
};

/** Decides by path or, for paths that both dialects have, by the header that Anthropic's clients send. */
export const dialectOf = (path: string, headers: IncomingHttpHeaders): Dialect =>
  path.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined ? 'anthropic' : 'openai';

/** The newer clients of Anthropic send a bearer token, the older ones `x-api-key`. */
export const keyOf = (dialect: Dialect, headers: IncomingHttpHeaders): string | undefined =>
  (dialect === 'anthropic' ? headers['x-api-key']?.toString() : undefined) ??
  headers.authorization?.replace(/^Bearer /, '');

/** The provider's own models; they differ from those that the operator configures. */
export const modelList = (dialect: Dialect): object =>
  dialect === 'openai'
    ? {
        object: 'list',
        data: [{ id: 'upstream-model', object: 'model', created: 1_750_000_000, owned_by: 'system' }],
      }
    : {
        data: [
          {
            type: 'model',
            id: 'upstream-claude',
            display_name: 'Upstream',
            created_at: '2026-01-01T00:00:00Z',
          },
        ],
        has_more: false,
        first_id: 'upstream-claude',
        last_id: 'upstream-claude',
      };
