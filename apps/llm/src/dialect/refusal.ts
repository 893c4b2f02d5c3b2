import type { LlmDialect } from '@berth/contracts/llm';

export type RefusalType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'api_error';

/** Why a call is not sent, or did not succeed: an error that SDKs of the dialect understand. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    readonly type: RefusalType,
    readonly code: string | null,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The body of the error in the shape of the dialect. */
export const bodyOf = (dialect: LlmDialect, { type, code, message }: Refusal): object =>
  dialect === 'openai'
    ? { error: { message, type, code, param: null } }
    : { type: 'error', error: { type, message, code } };

export const invalidRequest = (message: string, code: string | null = null): Refusal =>
  new Refusal(400, 'invalid_request_error', code, message);

export const unsupported = (what: string): Refusal =>
  invalidRequest(`${what} is not available on this route.`, 'unsupported_parameter');

export const unauthenticated = (): Refusal =>
  new Refusal(
    401,
    'authentication_error',
    'unauthenticated',
    'Send the token of a running agent, as Bearer or x-api-key.',
    { 'www-authenticate': 'Bearer' },
  );

export const modelNotFound = (): Refusal =>
  new Refusal(
    404,
    'not_found_error',
    'model_not_found',
    'There is no such model on this route. GET /models lists them.',
  );

export const upstreamFailed = (message: string): Refusal =>
  new Refusal(502, 'api_error', 'upstream_error', message);

export const serviceUnavailable = (): Refusal =>
  new Refusal(
    503,
    'api_error',
    'service_unavailable',
    'A part of the service is not available right now. Try again in a moment.',
    { 'retry-after': '1' },
  );

export const tooManyCalls = (): Refusal =>
  new Refusal(
    429,
    'rate_limit_error',
    'rate_limited',
    'The account has as many calls open as leave connections for others. Try again in a moment.',
    { 'retry-after': '1' },
  );

/** The refusals that ledgers and suspensions decide, by code. */
export const refusalOf = (code: string): Refusal => REFUSALS[code]?.() ?? serviceUnavailable();

const REFUSALS: Readonly<Record<string, () => Refusal>> = {
  spend_cap_reached: () =>
    new Refusal(
      402,
      'billing_error',
      'spend_cap_reached',
      'The call does not fit into what is left of the spend cap of the end user in this month.',
    ),
  insufficient_credits: () =>
    new Refusal(
      402,
      'billing_error',
      'insufficient_credits',
      'The call does not fit into what is left of the credits of the account.',
    ),
  end_user_suspended: () =>
    new Refusal(403, 'permission_error', 'end_user_suspended', 'The end user of the agent is suspended.'),
  account_suspended: () =>
    new Refusal(403, 'permission_error', 'account_suspended', 'The account of the agent is suspended.'),
  rate_limited: () =>
    new Refusal(
      429,
      'rate_limit_error',
      'rate_limited',
      'The agent has 64 calls in flight. Try again when one of them is over.',
      { 'retry-after': '1' },
    ),
};
