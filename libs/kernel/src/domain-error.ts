/**
 * Why a request was refused or failed. Each edge maps the kind to its own terms once (HTTP: invalid 400,
 * unauthenticated 401, payment_required 402, forbidden 403, not_found 404, conflict 409, too_large 413, exhausted 429,
 * upstream 502, unavailable 503, timeout 504, full 507, unsupported 501, internal 500).
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
  'full',
  'internal',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Type guard for error kinds that arrive from another process. */
export const isErrorKind = (value: unknown): value is ErrorKind =>
  ERROR_KINDS.some((known) => known === value);

/** JSON values: what an error's context, an event or a message may contain. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

const EFFECTS = ['none', 'unknown', 'final'] as const;

/**
 * The known effect of a failed request. `none`: nothing was done, so the request may be sent again. `unknown`: it may
 * have been carried out, or may yet be carried out. `final`: the error is the outcome of its command, whichever of its
 * attempts it answers; none of them does anything any more, so that only another command can.
 */
export type Effect = (typeof EFFECTS)[number];

export const isEffect = (value: unknown): value is Effect => EFFECTS.some((known) => known === value);

export interface DomainErrorOptions extends ErrorOptions {
  readonly effect?: Effect;
}

/** An error with a stable snake_case `code` and a `message` that tells the caller what to do. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  /** The effect stated where the error was created, if any. To learn the effect, call `effectOf`. */
  readonly effect: Effect | undefined;

  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    /** Further public fields of the error body. Never contains a stack, SQL, a host path or an internal name. */
    readonly context: { readonly [key: string]: Json | undefined } = {},
    options: DomainErrorOptions = {},
  ) {
    super(message, options);
    this.effect = options.effect;
  }
}

/**
 * Whether `error` is a `DomainError` of kind `kind` (any kind when omitted). Also recognises errors that another copy
 * of this module created.
 */
export const isDomainError = (error: unknown, kind?: ErrorKind): error is DomainError =>
  error instanceof Error &&
  error.name === 'DomainError' &&
  'kind' in error &&
  (kind === undefined || error.kind === kind);

/** Kinds that do not tell whether the request had an effect. An error of any other kind is itself the outcome. */
const UNCERTAIN: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['unavailable', 'timeout', 'internal']);

/**
 * Returns the effect of the request that failed with `error`: the effect that the error states, otherwise `unknown` for
 * outages, timeouts, internal errors and anything that is not a `DomainError`. Undefined: the error itself is the
 * outcome.
 */
export const effectOf = (error: unknown): Effect | undefined => {
  if (!isDomainError(error)) return 'unknown';
  return error.effect ?? (UNCERTAIN.has(error.kind) ? 'unknown' : undefined);
};

/**
 * Returns the error of a request whose last attempt failed with `error` and whose earlier attempts had `effect`:
 * `error`, but with the effect `unknown` if `effect` is `unknown` and `error` states `none`.
 */
export const withEffect = <Failure>(error: Failure, effect: Effect): Failure | DomainError =>
  effect === 'none' || !isDomainError(error) || error.effect !== 'none' ? error : stating(error, effect);

/** Returns the error as the outcome of its command: see `Effect`. */
export const asFinal = <Failure>(error: Failure): Failure | DomainError =>
  isDomainError(error) ? stating(error, 'final') : error;

/** Returns the error of a request that certainly had no effect, unless it already states its effect. */
export const asWithoutEffect = <Failure>(error: Failure): Failure | DomainError =>
  isDomainError(error) && error.effect === undefined ? stating(error, 'none') : error;

/**
 * Returns the error of an attempt that was made again because the outcome of an earlier one is unknown: it stays unknown,
 * unless the error is the outcome of the command.
 */
export const asRepeated = <Failure>(error: Failure): Failure | DomainError =>
  !isDomainError(error) || error.effect === 'final' ? error : stating(error, 'unknown');

const stating = (error: DomainError, effect: Effect): DomainError => {
  const { kind, code, message, context } = error;
  return new DomainError(kind, code, message, context, { cause: error, effect });
};
