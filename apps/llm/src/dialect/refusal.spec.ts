import { describe, expect, it } from 'vitest';
import {
  bodyOf,
  invalidRequest,
  modelNotFound,
  refusalOf,
  unauthenticated,
  unsupported,
  upstreamFailed,
} from './refusal.js';

const CASES = [
  [refusalOf('spend_cap_reached'), 402, 'billing_error', 'spend_cap_reached'],
  [refusalOf('insufficient_credits'), 402, 'billing_error', 'insufficient_credits'],
  [refusalOf('end_user_suspended'), 403, 'permission_error', 'end_user_suspended'],
  [refusalOf('account_suspended'), 403, 'permission_error', 'account_suspended'],
  [refusalOf('rate_limited'), 429, 'rate_limit_error', 'rate_limited'],
  [refusalOf('unknown'), 503, 'api_error', 'service_unavailable'],
  [modelNotFound(), 404, 'not_found_error', 'model_not_found'],
  [unsupported('x'), 400, 'invalid_request_error', 'unsupported_parameter'],
  [invalidRequest('x'), 400, 'invalid_request_error', null],
  [unauthenticated(), 401, 'authentication_error', 'unauthenticated'],
  [upstreamFailed('x'), 502, 'api_error', 'upstream_error'],
] as const;

describe('a refusal', () => {
  it.each(CASES)('has its status, type and code in the shape of both dialects: $1 $2 $3', (...given) => {
    const [refusal, status, type, code] = given;
    const { message } = refusal;
    expect(refusal.status).toBe(status);
    expect(bodyOf('openai', refusal)).toEqual({ error: { message, type, code, param: null } });
    expect(bodyOf('anthropic', refusal)).toEqual({ type: 'error', error: { type, message, code } });
  });
});
