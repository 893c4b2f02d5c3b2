import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect as connectSocket, type AddressInfo } from 'node:net';

/**
 * How a call fails. `half`: only half of the request arrives, then both ends see a reset. `lose`: the server executes
 * it, but the response is lost. `silent`: it never arrives and gets no response. `status`: the proxy responds in place
 * of the server. `late`: the server executes it, but the response is delayed.
 */
export type CallFault =
  | { readonly kind: 'half' | 'lose' | 'silent' }
  | { readonly kind: 'status'; readonly code: number; readonly details: string; readonly afterMs: number }
  | { readonly kind: 'late'; readonly afterMs: number };

/** A call of the client, before the proxy has forwarded anything. */
export interface ProxiedCall {
  /** The name of the method: `Append`, `Read` … */
  readonly method: string;
  /** How many identical requests are in flight. */
  readonly duplicates: number;
}

const LOOPBACK = '127.0.0.1';

/** A proxy between a client and an event store that applies `fault` to each gRPC call. */
export class EventStoreProxy {
  /**
   * Called for every call once its whole request has arrived. A subscription is a `Read` whose response does not end.
   */
  fault: (call: ProxiedCall) => CallFault | undefined = () => undefined;
  readonly #server: Http2Server = createServer();
  readonly #sessions = new Map<ServerHttp2Session, ClientHttp2Session>();
  readonly #inFlight = new Map<string, number>();

  private constructor(private readonly targetPort: number) {
    this.#server.on('session', (session: ServerHttp2Session) => this.#accept(session));
    this.#server.on('stream', (stream: ServerHttp2Stream, headers) => void this.#serve(stream, headers));
  }

  static async start(targetPort: number): Promise<EventStoreProxy> {
    const proxy = new EventStoreProxy(targetPort);
    proxy.#server.listen(0, LOOPBACK);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `esdb://${LOOPBACK}:${this.port}?tls=false`;
  }

  /** Breaks every connection. */
  cut(): void {
    for (const session of this.#sessions.keys()) session.destroy();
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
    for (const far of this.#sessions.values()) far.destroy();
    await once(this.#server, 'close');
  }

  #accept(session: ServerHttp2Session): void {
    const far = connect(`http://${LOOPBACK}:${this.targetPort}`);
    this.#sessions.set(session, far);
    const end = (): void => {
      this.#sessions.delete(session);
      session.destroy();
      far.destroy();
    };
    for (const each of [session, far]) each.on('error', end).on('close', end);
  }

  async #serve(near: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    near.on('error', () => undefined);
    const body = await received(near);
    const far = near.session && this.#sessions.get(near.session as ServerHttp2Session);
    if (body === undefined || far === undefined) return;
    const key = createHash('sha1').update(body).digest('base64');
    const duplicates = this.#inFlight.get(key) ?? 0;
    const path = headers[':path'];
    const method = typeof path === 'string' ? path.slice(path.lastIndexOf('/') + 1) : '';
    this.#inFlight.set(key, duplicates + 1);
    near.once('close', () => this.#inFlight.set(key, (this.#inFlight.get(key) ?? 1) - 1));
    const fault = this.fault({ method, duplicates });
    if (fault?.kind === 'half') sendHalf(near, this.targetPort, headers, body);
    else forward(near, far, headers, body, fault);
  }
}

/** Returns the whole request, or undefined if the caller aborted it. */
const received = async (stream: ServerHttp2Stream): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    // A request that is reset ends like a whole one; only the state of the stream shows the difference.
    return stream.closed || stream.aborted ? undefined : Buffer.concat(chunks);
  } catch {
    return undefined;
  }
};

/**
 * Sends half of the body on a separate connection and breaks it: on the shared one Node would end the request before it
 * resets it, and a server could not distinguish half of an append from a whole one.
 */
const sendHalf = (
  near: ServerHttp2Stream,
  targetPort: number,
  headers: IncomingHttpHeaders,
  body: Buffer,
): void => {
  const socket = connectSocket(targetPort, LOOPBACK);
  const session = connect(`http://${LOOPBACK}:${targetPort}`, { createConnection: () => socket });
  const far = session.request(headers);
  for (const each of [socket, session, far]) each.on('error', () => undefined);
  far.write(body.subarray(0, Math.ceil(body.length / 2)), () => {
    socket.destroy();
    near.close(constants.NGHTTP2_INTERNAL_ERROR);
  });
};

const forward = (
  near: ServerHttp2Stream,
  session: ClientHttp2Session,
  headers: IncomingHttpHeaders,
  body: Buffer,
  fault: CallFault | undefined,
): void => {
  if (fault?.kind === 'silent' || near.destroyed || session.destroyed) return;
  if (fault?.kind === 'status') {
    setTimeout(() => refuse(near, fault.code, fault.details), fault.afterMs);
    return;
  }
  const far = session.request(headers);
  far.on('error', () => near.destroy());
  near.once('close', () => far.destroy());
  far.end(body);
  // Trailers may arrive long before a delayed response is forwarded.
  let trailers: IncomingHttpHeaders = {};
  far.on('trailers', (arrived: IncomingHttpHeaders) => (trailers = arrived));
  far.on('response', (response, flags) => {
    const pass = (): void => respondWith(near, far, { response, flags, trailers: () => trailers });
    if (fault?.kind === 'lose') far.resume().once('end', () => near.destroy());
    else if (fault?.kind === 'late') setTimeout(pass, fault.afterMs);
    else pass();
  });
};

const respondWith = (
  near: ServerHttp2Stream,
  far: ClientHttp2Stream,
  {
    response,
    flags,
    trailers,
  }: { response: IncomingHttpHeaders; flags: number; trailers: () => IncomingHttpHeaders },
): void => {
  if (near.destroyed) return;
  if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) {
    near.respond(response, { endStream: true });
    return;
  }
  near.respond(response, { waitForTrailers: true });
  near.once('wantTrailers', () => near.sendTrailers(trailers()));
  far.pipe(near);
};

const refuse = (near: ServerHttp2Stream, code: number, details: string): void => {
  if (near.destroyed) return;
  const status = { 'grpc-status': String(code), 'grpc-message': encodeURIComponent(details) };
  near.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
};
