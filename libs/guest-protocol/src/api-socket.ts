/**
 * Name of the Unix socket on which the host offers Berth's API to one agent, beside the socket of the agent's guest. It
 * speaks HTTP, and only `/agent/v1` can be reached on it.
 */
export const API_SOCKET = 'api.sock';

/** A response to the agent's program that does not come from Berth's API, in the shape of the API's errors. */
export interface ApiRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const refusal = (
  status: number,
  detail: { readonly code: string; readonly message: string; readonly fields?: readonly object[] },
  headers: Readonly<Record<string, string>> = {},
): ApiRefusal => {
  const body = JSON.stringify({ detail });
  const length = String(Buffer.byteLength(body));
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
    body,
  };
};

/** What the agent's program gets when its request does not reach Berth's API. */
export const API_REFUSALS = {
  /** The path is not one for agents. */
  notFound: refusal(404, {
    code: 'not_found',
    message: 'Only /agent/v1 can be reached from inside an agent.',
  }),
  /** The API, or the host's way to it, is not available. */
  unavailable: refusal(
    503,
    { code: 'service_unavailable', message: 'Berth’s API cannot be reached right now; try again.' },
    { 'retry-after': '1' },
  ),
} as const satisfies Readonly<Record<string, ApiRefusal>>;

/** The same for a request that cannot be forwarded because of one of its headers. */
export const unfitRequest = ({
  status,
  header,
  message,
}: {
  readonly status: number;
  readonly header: string;
  readonly message: string;
}): ApiRefusal =>
  status === 417
    ? refusal(status, { code: 'expectation_failed', message: `${header} ${message}.` })
    : refusal(status, {
        code: 'invalid_request',
        message: 'The request is invalid.',
        fields: [{ path: header, message }],
      });
