import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { detach } from '@berth/kernel';
import type { WebSocket } from 'ws';
import { toBuffer } from '../../server/web-sockets.js';
import { ByteReader } from './byte-reader.js';
import { joinServer, welcomeClient } from './rfb-handshake.js';
import { ViewFilter } from './view-filter.js';

/** A client says what it wants within a few bytes. */
const HANDSHAKE_BYTES = 4_096;
const HANDSHAKE_MS = 15_000;
/** Limit of buffered bytes towards one side; above it the other side is paused. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** How long a client may take to close its side. */
const CLOSE_MS = 2_000;
const NORMAL_CLOSURE = 1_000;
const PROTOCOL_ERROR = 1_002;

/** What a socket shows, and to whom it belongs. */
export interface ViewerSession {
  readonly sessionId: string;
  readonly mode: 'view' | 'control';
  readonly takeover: boolean;
}

/** One socket of a viewer, joined to the VNC server of a desktop. */
export class Viewer {
  /** Resolves when it shows nothing any more. */
  readonly over: Promise<void>;
  readonly #over = Promise.withResolvers<void>();
  readonly #fromClient = new ByteReader();
  readonly #fromServer = new ByteReader();

  constructor(
    readonly session: ViewerSession,
    password: Buffer,
    private readonly client: WebSocket,
    private readonly server: Socket,
  ) {
    this.over = this.#over.promise;
    client.on('error', () => client.terminate());
    client.on('close', () => this.end(NORMAL_CLOSURE, ''));
    server.on('error', () => server.destroy());
    server.on('close', () => this.end(NORMAL_CLOSURE, 'The desktop has ended.'));
    this.#run(password).catch((error: unknown) => {
      this.end(PROTOCOL_ERROR, error instanceof Error ? error.message : '');
    });
  }

  /** Shows nothing from now on; the client is told why. */
  end(code: number, reason: string): void {
    const ended = new Error('The viewer is closed.');
    this.#fromClient.fail(ended);
    this.#fromServer.fail(ended);
    this.server.destroy();
    this.#over.resolve();
    if (this.client.readyState !== this.client.OPEN) return;
    this.client.close(code, reason);
    setTimeout(() => this.client.terminate(), CLOSE_MS).unref();
  }

  async #run(password: Buffer): Promise<void> {
    const { client, server } = this;
    const fill = (data: Parameters<typeof toBuffer>[0]): void => {
      this.#fromClient.push(toBuffer(data));
      if (this.#fromClient.unread > HANDSHAKE_BYTES) this.end(PROTOCOL_ERROR, 'The client sends too much.');
    };
    const hold = (chunk: Buffer): void => this.#fromServer.push(chunk);
    client.on('message', fill);
    server.on('data', hold);
    const late = new AbortController();
    detach(
      delay(HANDSHAKE_MS, undefined, { signal: late.signal }).then(
        () => this.end(PROTOCOL_ERROR, 'The client does not begin.'),
        () => undefined,
      ),
    );
    try {
      await Promise.all([
        welcomeClient({ from: this.#fromClient, send: (bytes) => client.send(bytes) }),
        joinServer({ from: this.#fromServer, send: (bytes) => server.write(bytes) }, password),
      ]);
    } finally {
      late.abort();
      client.off('message', fill);
      server.off('data', hold);
    }
    this.#join();
  }

  /** Passes the bytes of both sides, beginning with what has arrived behind the handshake. */
  #join(): void {
    const { client, server } = this;
    const show = (chunk: Buffer): void => {
      if (chunk.length === 0 || client.readyState !== client.OPEN) return;
      if (client.bufferedAmount <= HIGH_WATER_BYTES) return client.send(chunk);
      server.pause();
      client.send(chunk, () => server.resume());
    };
    const filter = this.session.mode === 'view' ? new ViewFilter() : undefined;
    const act = (chunk: Buffer): void => {
      const passed = filter === undefined ? chunk : filter.take(chunk);
      if (passed.length === 0 || server.write(passed)) return;
      client.pause();
      server.once('drain', () => client.resume());
    };
    const tryToAct = (chunk: Buffer): void => {
      try {
        act(chunk);
      } catch (error) {
        this.end(PROTOCOL_ERROR, error instanceof Error ? error.message : '');
      }
    };
    server.on('data', show);
    client.on('message', (data) => tryToAct(toBuffer(data)));
    show(this.#fromServer.rest());
    tryToAct(this.#fromClient.rest());
  }
}
