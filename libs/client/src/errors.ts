/** What a `ServiceError` says beside its message. */
export interface ServiceErrorFields {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly detail?: unknown;
  readonly requestId?: string | undefined;
  readonly headers?: Headers | undefined;
  readonly cause?: unknown;
}

/** A call failed: the service refused it, or its answer could not be used. All errors of this library derive from it. */
export class ServiceError extends Error {
  /** The HTTP status; undefined if there was no whole answer. */
  readonly status: number | undefined;
  /** The stable code of the refusal, for example `agent_not_found`, if the service sent one. */
  readonly code: string | undefined;
  /** The `detail` of the answer, an object or a string. Of an answer that is no JSON, its first 1,000 characters. */
  readonly detail: unknown;
  /** The `X-Request-Id` of the answer; quote it in a report. */
  readonly requestId: string | undefined;
  /** The headers of the answer; undefined if there was none. */
  readonly headers: Headers | undefined;

  static {
    named(this, 'ServiceError');
  }

  constructor(message: string, fields: ServiceErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.status = fields.status;
    this.code = fields.code;
    this.detail = fields.detail;
    this.requestId = fields.requestId;
    this.headers = fields.headers;
  }
}

/** 401 or 403: the key is missing or invalid, or lacks the scope. Without `status`: the client has no key. */
export class ServiceAuthError extends ServiceError {
  static {
    named(this, 'ServiceAuthError');
  }
}

/** 402: a plan's limit or a cap is reached, or an add-on is needed. */
export class ServicePaymentRequiredError extends ServiceError {
  static {
    named(this, 'ServicePaymentRequiredError');
  }
}

/** 404: what the call names does not exist, or belongs to another account. */
export class ServiceNotFoundError extends ServiceError {
  static {
    named(this, 'ServiceNotFoundError');
  }
}

/** 409: the call contradicts the present state, for example because a name is taken. */
export class ServiceConflictError extends ServiceError {
  static {
    named(this, 'ServiceConflictError');
  }
}

/** 429: too many calls. */
export class ServiceRateLimitError extends ServiceError {
  /** Seconds to wait before the next call; undefined if the service did not say. */
  readonly retryAfter: number | undefined;

  static {
    named(this, 'ServiceRateLimitError');
  }

  constructor(
    message: string,
    fields: ServiceErrorFields & { readonly retryAfter?: number | undefined } = {},
  ) {
    super(message, fields);
    this.retryAfter = fields.retryAfter;
  }
}

/**
 * There was no whole answer: the connection was refused, broke, also midway, or took too long. `code` is
 * `connection_failed` or `timeout`, `status` is undefined, and `cause` is the error below.
 */
export class ServiceConnectionError extends ServiceError {
  static {
    named(this, 'ServiceConnectionError');
  }

  constructor(message: string, code: 'connection_failed' | 'timeout', cause?: unknown) {
    super(message, { code, cause });
  }
}

/** On the prototype, so that a stack begins with the name, also where a bundler has renamed the class. */
function named(type: { readonly prototype: Error }, name: string): void {
  Object.defineProperty(type.prototype, 'name', { value: name, configurable: true, writable: true });
}
