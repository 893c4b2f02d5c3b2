import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { FIXED_HEADERS } from '../http/fixed-headers.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';

/** Proxies and clients close idle connections; a comment keeps them open. */
const HEARTBEAT_MS = 15_000;

/** How long an `EventSource` waits before it connects again. */
const RETRY_MS = 2_000;

/** How long a client may take to read the end. */
const CUT_AFTER_MS = 500;

/** One server-sent event. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: unknown;
  /** The position from which a reconnecting client continues, as `Last-Event-ID`. */
  readonly id?: string;
}

/** An open response of server-sent events (WHATWG HTML §9.2). Takes the reply over from Fastify. */
export class SseStream {
  readonly #gone = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(
    request: ApiRequest,
    private readonly reply: ApiReply,
  ) {
    reply.hijack();
    // A client that hung up before the stream began has closed it already, and no `close` event follows.
    if (reply.raw.closed) this.#gone.abort();
    else reply.raw.once('close', () => this.#gone.abort());
    // Writing to a client that just left is not a failure of the gateway.
    reply.raw.on('error', () => this.#gone.abort());
    reply.raw.writeHead(200, {
      ...FIXED_HEADERS,
      // Those that hooks have set.
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'x-request-id': request.id,
      // Closes the socket together with the stream of a revoked key.
      connection: 'close',
    });
    reply.raw.write(`retry: ${RETRY_MS}\n\n`);
    this.#heartbeat = setInterval(() => reply.raw.write(': still here\n\n'), HEARTBEAT_MS);
  }

  /** Aborts when the client is gone. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when the client can take more. */
  async send(events: readonly ServerSentEvent[]): Promise<void> {
    if (events.length === 0 || this.gone.aborted) return;
    if (this.reply.raw.write(events.map(format).join(''))) return;
    await once(this.reply.raw, 'drain', { signal: this.gone }).catch(() => undefined);
  }

  /** Closes the stream; a client that does not read what is left is cut off. */
  end(last?: ServerSentEvent): void {
    clearInterval(this.#heartbeat);
    const { raw } = this.reply;
    if (this.gone.aborted) return;
    const cut = setTimeout(() => raw.destroy(), CUT_AFTER_MS);
    raw.once('close', () => clearTimeout(cut));
    raw.end(last === undefined ? undefined : format(last));
  }
}

/** `JSON.stringify` emits no line breaks, so that one `data` line always suffices. */
const format = ({ event, data, id }: ServerSentEvent): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
