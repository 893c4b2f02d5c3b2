import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { detach, DomainError } from '@berth/kernel';
import type { CloseViewers } from '@berth/guest-protocol';
import { openSocketPath } from '@berth/sockets';
import type { WebSocketServer } from 'ws';
import { createWebSocketServer } from '../../server/web-sockets.js';
import { desktopUnavailable } from '../find-desktop.js';
import type { VncPasswords } from './vnc-auth.js';
import { Viewer, type ViewerSession } from './viewer.js';

/** Maximum size of one message, which is as large as a client likes. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_VIEWERS = 64;
const CONNECT_WITHIN_MS = 5_000;
const RETRY_MS = 20;
const DESKTOP_WITHIN_MS = 10_000;
const GOING_AWAY = 1_001;
const PROTOCOL = 'binary';

/** The VNC server of a desktop. */
export interface VncServer {
  readonly vncSocket: string;
  readonly vncPasswords: VncPasswords;
}

/** Waits for the desktop if it is starting; undefined if it does not start. */
export type FindVncServer = (withinMs: number) => Promise<VncServer | undefined>;

/** What follows from a person's turn. */
export interface TakeoverHooks {
  readonly onTakeOver: () => void;
  readonly onGiveBack: () => void;
}

/** The open sockets of viewers. */
export class Viewers {
  readonly #viewers = new Set<Viewer>();
  #sockets: Promise<WebSocketServer> | undefined;
  #accepts = true;

  constructor(
    private readonly findServer: FindVncServer,
    private readonly hooks: TakeoverHooks,
  ) {}

  /** Errors, with nothing opened: unavailable `agent_unavailable`; exhausted `too_many_viewers`. */
  async open(request: IncomingMessage, socket: Duplex, head: Buffer, session: ViewerSession): Promise<void> {
    const sockets = await (this.#sockets ??= createWebSocketServer(MAX_MESSAGE_BYTES, PROTOCOL));
    const found = await this.findServer(DESKTOP_WITHIN_MS);
    const server = found && (await dial(found.vncSocket));
    if (server === undefined || !this.#accepts) {
      server?.destroy();
      throw desktopUnavailable();
    }
    if (this.#viewers.size >= MAX_VIEWERS) {
      server.destroy();
      throw new DomainError(
        'exhausted',
        'too_many_viewers',
        `A computer has at most ${MAX_VIEWERS} viewers.`,
      );
    }
    const gone = (): void => void server.destroy();
    socket.once('close', gone);
    sockets.handleUpgrade(request, socket, head, (client) => {
      const password = (found as VncServer).vncPasswords[session.mode];
      this.#add(new Viewer(session, password, client, server));
    });
  }

  /** Ends viewers of these sessions; null: all. */
  close({ sessionIds }: CloseViewers): void {
    for (const viewer of this.#viewers) {
      if (sessionIds === null || sessionIds.includes(viewer.session.sessionId))
        viewer.end(GOING_AWAY, 'The viewer session is over.');
    }
  }

  /** Closes all; no other is opened until `resume`. */
  quiesce(): void {
    this.#accepts = false;
    this.close({ sessionIds: null });
  }

  resume(): void {
    this.#accepts = true;
  }

  #add(viewer: Viewer): void {
    this.#viewers.add(viewer);
    if (viewer.session.takeover) this.hooks.onTakeOver();
    detach(
      viewer.over.then(() => {
        this.#viewers.delete(viewer);
        const isTakenOver = [...this.#viewers].some(({ session }) => session.takeover);
        if (viewer.session.takeover && !isTakenOver) this.hooks.onGiveBack();
      }),
    );
  }
}

/** Undefined if nothing listens. */
const dial = async (path: string): Promise<Socket | undefined> => {
  const place = await openSocketPath(path);
  const late = AbortSignal.timeout(CONNECT_WITHIN_MS);
  try {
    for (;;) {
      const server = connect({ path: place.path });
      try {
        await once(server, 'connect', { signal: late });
        return server;
      } catch (error) {
        server.on('error', () => undefined).destroy();
        if (!isCrowded(error)) return undefined;
      }
      await delay(RETRY_MS);
    }
  } finally {
    await place.release();
  }
};

/** As many connections as the VNC server lets wait, few, wait to be accepted. */
const isCrowded = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EAGAIN';
