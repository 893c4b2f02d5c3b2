/** A public error code of the gateway itself, or of any route. */
export interface HttpErrorDefinition {
  readonly status: number;
  /** Completes "when …". */
  readonly when: string;
}

/** Error codes that the gateway raises itself, rather than the service that handles a request. */
export const gatewayErrors = {
  deadline_exceeded: {
    status: 504,
    when: 'a service did not respond in time; the request may still take effect',
  },
  foreign_origin: {
    status: 403,
    when: 'a browser sent the request to an app with its cookie, but for a page of another origin',
  },
  idempotency_in_progress: {
    status: 409,
    when: 'the first request with this Idempotency-Key is still running',
  },
  idempotency_key_reused: { status: 409, when: 'this Idempotency-Key was used with another body' },
  internal_error: { status: 500, when: 'something failed that should not have; report the request id' },
  invalid_request: {
    status: 400,
    when: 'the path, the query, a header or the body is not valid, see `fields`',
  },
  payload_too_large: { status: 413, when: 'the body, or a file, is larger than `limitBytes`' },
  range_not_satisfiable: { status: 416, when: 'the file has no bytes in the requested range' },
  request_timeout: { status: 408, when: 'the body did not arrive in time' },
  service_unavailable: {
    status: 503,
    when: 'a part of the service is not available; with `mayHaveBeenDone` the request may have taken effect',
  },
  token_scope: { status: 403, when: 'the scopes of the token do not include the route' },
  unsupported_media_type: { status: 415, when: 'the body is of another type' },
  upgrade_required: { status: 426, when: 'the path accepts WebSockets only' },
} as const satisfies Readonly<Record<string, HttpErrorDefinition>>;
