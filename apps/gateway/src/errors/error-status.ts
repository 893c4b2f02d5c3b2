import type { ErrorKind } from '@berth/kernel';

/** The HTTP status of each kind of error. */
export const STATUS_OF_KIND: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  exhausted: 429,
  internal: 500,
  unsupported: 501,
  upstream: 502,
  unavailable: 503,
  timeout: 504,
  full: 507,
};
