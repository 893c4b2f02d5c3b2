import type { IncomingMessage } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import type { ApiReply, ApiRequest } from './fastify-types.js';
import { takeConnection } from './upgrades.js';

/** Accepts WebSockets whose handshake `requireWebSocket` has validated. */
export class WebSockets {
  readonly #server: WebSocketServer;
  readonly #requestIds = new WeakMap<IncomingMessage, string>();

  /** `subprotocol`: the one that is spoken if the client names it. */
  constructor(maxPayload: number, subprotocol?: string) {
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload,
      perMessageDeflate: false,
      ...(subprotocol === undefined
        ? {}
        : { handleProtocols: (offered: Set<string>) => offered.has(subprotocol) && subprotocol }),
    });
    this.#server.on('headers', (lines, raw) => {
      lines.push(`X-Request-Id: ${this.#requestIds.get(raw) ?? ''}`);
    });
  }

  /** Responds with 101. Returns undefined if the client has left in the meantime. */
  accept(request: ApiRequest, reply: ApiReply): WebSocket | undefined {
    const { socket, head } = takeConnection(request, reply);
    this.#requestIds.set(request.raw, request.id);
    let accepted: WebSocket | undefined;
    this.#server.handleUpgrade(request.raw, socket, head, (client) => (accepted = client));
    return accepted;
  }
}
