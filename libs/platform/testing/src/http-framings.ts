import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { BODY, FORWARDED, REFUSED, type Framing } from './framing-corpus.js';

/** A server that forwards requests, and the server behind it, which records them. */
export interface ForwardingHop {
  readonly target: NetConnectOpts;
  readonly recorder: RequestRecorder;
  /** Request line and headers of a new request, without those that announce its body. */
  readonly head: (method: string) => readonly string[];
  /** Whether it forwards requests of this method, with or without a body; others are refused. By default it does. */
  readonly forwards?: (method: string, hasBody: boolean) => boolean;
  /** The method of requests with a body, if it is not POST. */
  readonly bodyMethod?: string;
}

/** A whole request as the server behind a hop has read it. */
interface ReadRequest {
  readonly method: string;
  readonly body: string;
}

/** Reads whole requests and responds to them; a hop's test uses it as the next server. */
export class RequestRecorder {
  #requests: ReadRequest[] = [];
  /** The names of all trailers so far. */
  readonly trailers: string[] = [];

  /** The requests since the last call. */
  take(): readonly ReadRequest[] {
    const taken = this.#requests;
    this.#requests = [];
    return taken;
  }

  readonly respond = (request: IncomingMessage, response: ServerResponse): void => {
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    request.once('end', () => {
      this.#requests.push({ method: request.method ?? '', body });
      this.trailers.push(...Object.keys(request.trailers));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 }).end('{}');
    });
  };
}

/** Registers tests with all framings of requests for a hop, which must leave none of their bytes to be read as another one. */
export const describeHttpFramings = (hop: () => ForwardingHop): void => {
  describe('the framing of a forwarded request', () => {
    it('passes as it is, and leaves nothing to be read as another request', async () => {
      const expected = [];
      const actual = [];
      for (const framing of FORWARDED) {
        const { forwards, recorder } = hop();
        const method = methodOf(framing, hop());
        const isForwarded = forwards?.(method, framing.sent !== '') ?? true;
        const seen = inOrder(isForwarded ? [{ method, body: framing.body }, NEXT] : [NEXT]);
        expected.push({ framing: framing.name, isForwarded, others: [200], seen });
        const [status, ...others] = await send(framing, hop());
        actual.push({
          framing: framing.name,
          isForwarded: status === 200,
          others,
          seen: inOrder(recorder.take()),
        });
      }
      expect(actual).toEqual(expected);
      expect(hop().recorder.trailers.filter((name) => name !== 'x-sum')).toEqual([]);
    });

    it('is refused if servers could read it in two ways, and then reaches none', async () => {
      const forwarded = [];
      for (const framing of REFUSED) {
        const [status = 0] = await send(framing, hop());
        const reached = hop()
          .recorder.take()
          .filter(({ method }) => method !== NEXT.method);
        if (status < 400 || status >= 500 || reached.length > 0)
          forwarded.push({ framing: framing.name, status, reached });
      }
      expect(forwarded).toEqual([]);
    });

    it('includes Expect: 100-continue, which is granted when the next server reads the body', async () => {
      const { target, recorder, head, bodyMethod: method = 'POST' } = hop();
      const socket = open(target);
      const length = `Content-Length: ${String(BODY.length)}`;
      socket.write(textOf([...head(method), length, 'Expect: 100-continue', 'Connection: close']));
      expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write(BODY);
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
      expect(recorder.take()).toEqual([{ method, body: BODY }]);
      socket.destroy();
    });
  });
};

/** The request that follows on the same connection. */
const NEXT: ReadRequest = { method: 'GET', body: '' };

/** Requests of one connection may be forwarded at the same time, and arrive in any order. */
const inOrder = (requests: readonly ReadRequest[]): readonly string[] =>
  requests.map(({ method, body }) => `${method} ${body}`).toSorted();

const methodOf = ({ method }: Framing, { bodyMethod = method }: ForwardingHop): string =>
  method === 'POST' ? bodyMethod : method;

/** Sends a request and the next one, and returns the statuses of the responses. */
const send = (framing: Framing, hop: ForwardingHop): Promise<readonly number[]> => {
  const [line = '', ...headers] = hop.head(methodOf(framing, hop));
  const head = [line.replace(/1\.1$/, framing.version ?? '1.1'), ...headers, ...framing.headers];
  const next = [...hop.head(NEXT.method), 'Connection: close'];
  return statusesOf(hop.target, `${textOf(head)}${framing.sent}${textOf(next)}`);
};

const textOf = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

const open = (target: NetConnectOpts): Socket => connect(target).on('error', () => undefined);

/** The statuses of all responses on a connection until the server closes it. */
const statusesOf = async (target: NetConnectOpts, bytes: string): Promise<readonly number[]> => {
  const socket = open(target);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.write(bytes, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve));
  return [...text.matchAll(/HTTP\/1\.1 ([2-5]\d\d)/g)].map(([, status]) => Number(status));
};
