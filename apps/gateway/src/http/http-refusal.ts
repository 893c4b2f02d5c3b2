import type { Json } from '@berth/kernel';
import type { RequestProblem } from '@berth/sockets';

/** One bad field of a request: `path` is dotted (`env.0.key`), or the name of a query member or header. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** Further public members of an error's `detail`. */
export interface RefusalContext {
  readonly [key: string]: Json | undefined;
}

/**
 * An error that the gateway itself raises, before any service was called. Errors of services are `DomainError`s; the
 * difference matters, because a 404 takes precedence over the gateway's own errors.
 */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly context: RefusalContext = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** 400 `invalid_request` that names every bad field. */
export const invalidRequest = (fields: readonly FieldProblem[]): HttpRefusal => {
  const first = fields[0];
  const summary = first === undefined ? 'The request is not valid.' : describe(first);
  const more = fields.length > 1 ? ` (${fields.length - 1} more in fields)` : '';
  return new HttpRefusal(400, 'invalid_request', summary + more, {
    fields: fields.map(({ path, message }) => ({ path, message })),
  });
};

const describe = ({ path, message }: FieldProblem): string => (path === '' ? message : `${path}: ${message}`);

/** The refusal of a request that servers could read in two ways, or whose `Expect` nobody meets. */
export const unfitRequest = ({ status, header, message }: RequestProblem): HttpRefusal =>
  status === 417
    ? new HttpRefusal(417, 'expectation_failed', 'Send Expect: 100-continue, or no Expect header.')
    : invalidRequest([{ path: header, message }]);

/** 401; the reason never says which part of a credential was wrong. */
export const unauthenticated = (
  message = 'Send a valid API key as Authorization: Bearer mk_…, or BERTH_AGENT_TOKEN on /agent/v1.',
): HttpRefusal => new HttpRefusal(401, 'unauthenticated', message);
