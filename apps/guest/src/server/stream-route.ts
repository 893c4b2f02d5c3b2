import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GuestRoute } from '@berth/guest-protocol';

/** One exchange of bytes. `gone` aborts when the other side has left. */
export interface StreamExchange {
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly gone: AbortSignal;
}

/**
 * A route that reads or writes its bytes as they come. It resolves when its answer is written. An error before the first
 * byte of the answer reaches the caller as a refusal; after it, the answer breaks off.
 */
export interface StreamRoute extends GuestRoute {
  readonly stream: (exchange: StreamExchange) => Promise<void>;
}

/** A route that takes the connection over. An error before it has answered reaches the caller as a refusal. */
export interface UpgradeRoute extends GuestRoute {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
}
