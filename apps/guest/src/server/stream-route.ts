import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GuestRoute } from '@berth/guest-protocol';

/** One streaming exchange. `gone` aborts when the client has disconnected. */
export interface StreamExchange {
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly gone: AbortSignal;
}

/**
 * A route that streams its bytes. It resolves when its response is written. An error before the first byte of the
 * response becomes an error response; a later one breaks off the response.
 */
export interface StreamRoute extends GuestRoute {
  readonly stream: (exchange: StreamExchange) => Promise<void>;
}

/** A route that takes over the connection. An error before its response becomes an error response. */
export interface UpgradeRoute extends GuestRoute {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
}
