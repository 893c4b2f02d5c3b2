import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { sentOf } from './sent-bytes.js';

export interface ConnectionBounds {
  /** Maximum number of connections. Beyond it the longest idle one is closed, or the new one if none is idle. */
  readonly most: number;
  /** A connection without a request in flight is closed after this time. */
  readonly idleMs: number;
  /** A client that accepts no bytes of its response for this time is disconnected. */
  readonly stalledMs: number;
}

export interface GuardedConnections {
  /** Number of open connections. */
  readonly size: number;
}

/** How long the rest of a body may take after the response. */
const UNREAD_MS = 10_000;

/** Number of checks within each time limit. */
const CHECKS_PER_LIMIT = 5;

/**
 * Bounds the connections of a server in number and time, and gives every socket and response an `error` listener from
 * the start: a socket that Node hands over (`connect`, `upgrade`) has none, and its error would end the process. Call
 * it after the server's listeners are registered: a listener for `upgrade` or `checkContinue` changes Node's behaviour.
 */
export const guardServer = (server: Server, bounds: ConnectionBounds): GuardedConnections => {
  const connections = new Connections(bounds);
  const exchange = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    response.on('error', () => response.destroy());
    connections.hold(socket);
    // Node closes the connection in its own listener for `finish`, which is registered already.
    response.prependOnceListener('finish', () => discardUnread(request, socket));
    response.once('close', () => {
      connections.release(socket);
      cutUnread(request, socket);
    });
  };
  const takeOver = (request: IncomingMessage, stream: Duplex): void => {
    // If the request has a body, this is a stream around the socket that forwards the socket's errors.
    stream.on('error', () => stream.destroy());
    connections.hold(request.socket);
  };
  // Over TLS, requests come from a socket around the accepted one.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    connections.add(socket);
  });
  server.prependListener('request', exchange);
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    if (server.listenerCount(event) > 0) server.prependListener(event, exchange);
  }
  for (const event of ['upgrade', 'connect'] as const) {
    if (server.listenerCount(event) > 0) server.prependListener(event, takeOver);
  }
  const sweeps = [
    setInterval(() => connections.closeIdle(), bounds.idleMs / CHECKS_PER_LIMIT),
    setInterval(() => connections.cutStalled(), bounds.stalledMs / CHECKS_PER_LIMIT),
  ];
  for (const sweep of sweeps) sweep.unref();
  server.once('close', () => {
    for (const sweep of sweeps) clearInterval(sweep);
  });
  return connections;
};

/**
 * Discards the rest of a body after its response, and keeps the connection open for it. A socket that is closed with
 * unread input, or written to afterwards, is reset, and the reset can overtake the response. A request that was destroyed
 * has no socket any more, hence the parameter.
 */
const discardUnread = (request: IncomingMessage, socket: Socket): void => {
  if (request.complete || socket.destroyed) return;
  const destroySoon = socket.destroySoon.bind(socket);
  let closing = false;
  // Node calls this method after a response with `Connection: close`.
  socket.destroySoon = () => {
    closing = true;
    socket.end();
  };
  request.once('end', () => {
    socket.destroySoon = destroySoon;
    if (closing) destroySoon();
  });
  request.resume();
};

/** Destroys the socket if the body does not end in time: until its end the connection cannot serve another request. */
const cutUnread = (request: IncomingMessage, socket: Socket): void => {
  if (request.complete || socket.destroyed) return;
  const late = setTimeout(() => {
    if (!request.complete) socket.destroy();
  }, UNREAD_MS);
  socket.once('close', () => clearTimeout(late));
};

/** A connection with requests in flight, or one that was handed over. */
interface Held {
  requests: number;
  /** How much the client had accepted at the last check, and for how many checks that has not changed. */
  sent: string | undefined;
  unchanged: number;
}

class Connections implements GuardedConnections {
  /** Idle connections and the start of their idleness, longest first. */
  readonly #idle = new Map<Duplex, number>();
  readonly #held = new Map<Duplex, Held>();

  constructor(private readonly bounds: ConnectionBounds) {}

  get size(): number {
    return this.#idle.size + this.#held.size;
  }

  add(socket: Duplex): void {
    socket.once('close', () => {
      this.#idle.delete(socket);
      this.#held.delete(socket);
    });
    this.#idle.set(socket, performance.now());
    if (this.size > this.bounds.most) this.#drop(this.#idle.keys().next().value ?? socket);
  }

  hold(socket: Duplex): void {
    if (socket.destroyed) return;
    this.#idle.delete(socket);
    const held = this.#held.get(socket);
    if (held === undefined) this.#held.set(socket, { requests: 1, sent: undefined, unchanged: 0 });
    else held.requests++;
  }

  release(socket: Duplex): void {
    const held = this.#held.get(socket);
    if (held === undefined) return;
    held.requests--;
    if (held.requests > 0) return;
    this.#held.delete(socket);
    if (!socket.destroyed) this.#idle.set(socket, performance.now());
  }

  closeIdle(): void {
    const now = performance.now();
    for (const [socket, since] of this.#idle) {
      if (now - since < this.bounds.idleMs) return;
      this.#drop(socket);
    }
  }

  /**
   * Input from the client is no progress, although a socket time-out would count it. Counts checks instead of time,
   * because clients of a frozen process had no chance to make progress.
   */
  cutStalled(): void {
    for (const [socket, held] of this.#held) {
      const sent = socket.writableLength === 0 ? undefined : sentOf(socket);
      held.unchanged = sent !== undefined && sent === held.sent ? held.unchanged + 1 : 0;
      held.sent = sent;
      if (held.unchanged >= CHECKS_PER_LIMIT) socket.destroy();
    }
  }

  #drop(socket: Duplex): void {
    this.#idle.delete(socket);
    socket.destroy();
  }
}
