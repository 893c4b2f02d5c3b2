import type { IncomingMessage } from 'node:http';

type Announced = Pick<IncomingMessage, 'headers'>;
type Received = Pick<IncomingMessage, 'headers' | 'httpVersion'>;

/** Why a request cannot be forwarded: the header, and how it must be. */
export interface RequestProblem {
  readonly status: 400 | 417;
  readonly header: string;
  readonly message: string;
}

/** Whether the request announced a body. */
export const hasBody = ({ headers }: Announced): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * The problem of a request whose body other servers may read in another way than Node's parser, which has refused most of
 * them already; undefined if there is none.
 */
export const framingProblem = ({ headers, httpVersion }: Received): RequestProblem | undefined => {
  const { 'transfer-encoding': coding, 'content-length': length } = headers;
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    return { status: 400, header: 'Transfer-Encoding', message: 'must be chunked' };
  // RFC 9112 §6.1: its framing is faulty.
  if (coding !== undefined && httpVersion === '1.0')
    return { status: 400, header: 'Transfer-Encoding', message: 'needs HTTP/1.1' };
  if (length !== undefined && (coding !== undefined || !/^\d+$/.test(length)))
    return {
      status: 400,
      header: 'Content-Length',
      message: 'must be one number, without Transfer-Encoding',
    };
  return undefined;
};

/** The problem of an `Expect` header; undefined if there is none. HTTP/1.0 has no such header. */
export const expectationProblem = ({
  headers: { expect },
  httpVersion,
}: Received): RequestProblem | undefined =>
  expect === undefined || httpVersion === '1.0' || expect.trim().toLowerCase() === '100-continue'
    ? undefined
    : { status: 417, header: 'Expect', message: 'must be 100-continue, or absent' };

/** Methods whose requests Node's client sends without a body unless their headers announce one. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/**
 * The headers that announce exactly the body that a request had when it was received, as names and values in turn. Without
 * them Node's client would send the body of a GET unframed, and it would be read as another request.
 */
export const framingOf = ({
  headers,
  httpVersion,
  method = '',
}: Received & Pick<IncomingMessage, 'method'>): readonly string[] => {
  const expectation = headers.expect === undefined || httpVersion === '1.0' ? [] : ['Expect', '100-continue'];
  if (headers['transfer-encoding'] !== undefined) {
    const trailer = headers.trailer === undefined ? [] : ['Trailer', headers.trailer];
    return ['Transfer-Encoding', 'chunked', ...trailer, ...expectation];
  }
  const length = headers['content-length'] ?? (BODILESS.has(method) ? undefined : '0');
  return length === undefined ? expectation : ['Content-Length', length, ...expectation];
};
