/**
 * Why a request was refused or failed. Each edge maps the kind to its own terms once (HTTP: invalid 400,
 * unauthenticated 401, payment_required 402, forbidden 403, not_found 404, conflict 409, too_large 413, exhausted 429,
 * upstream 502, unavailable 503, timeout 504, unsupported 501, internal 500).
 */
export const ERROR_KINDS = [
  'invalid',
  'unauthenticated',
  'payment_required',
  'forbidden',
  'not_found',
  'conflict',
  'too_large',
  'exhausted',
  'unsupported',
  'upstream',
  'unavailable',
  'timeout',
  'internal',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Type guard for error kinds that arrive from another process. */
export const isErrorKind = (value: unknown): value is ErrorKind =>
  ERROR_KINDS.some((known) => known === value);

/** JSON values: what an error's context, an event or a message may contain. */
export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** An error with a stable snake_case `code` and a `message` that tells the caller what to do. */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    /** Further public fields of the error body. Never contains a stack, SQL, a host path or an internal name. */
    readonly context: { readonly [key: string]: Json | undefined } = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Whether `error` is a `DomainError` of kind `kind` (any kind when omitted). Also recognises errors that another copy
 * of this module or another process created.
 */
export const isDomainError = (error: unknown, kind?: ErrorKind): error is DomainError =>
  error instanceof Error &&
  error.name === 'DomainError' &&
  'kind' in error &&
  (kind === undefined || error.kind === kind);
