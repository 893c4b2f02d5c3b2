import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { detach, DomainError } from '@berth/kernel';
import type { CloseViewers } from '@berth/guest-protocol';
import type { WebSocketServer } from 'ws';
import { createWebSocketServer } from '../../server/web-sockets.js';
import { desktopUnavailable } from '../find-desktop.js';
import { releaseButtons } from './release-buttons.js';
import { Viewer, type ViewerSession } from './viewer.js';
import { dialVnc, type VncServer } from './vnc-server.js';

/** Maximum size of one message, which is as large as a client likes. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_VIEWERS = 64;
const DESKTOP_WITHIN_MS = 10_000;
const GOING_AWAY = 1_001;
const PROTOCOL = 'binary';

/** How long the caller that ends viewers waits until they hold nothing. */
const RELEASE_WITHIN_MS = 2_000;

/** Waits for the desktop if it is starting; undefined if it does not start. */
export type FindVncServer = (withinMs: number) => Promise<VncServer | undefined>;

/** What follows from a person's turn. */
export interface TakeoverHooks {
  readonly onTakeOver: () => void;
  readonly onGiveBack: () => void;
}

/** The open sockets of viewers. */
export class Viewers {
  /** With what resolves once a viewer has ended and holds nothing. */
  readonly #viewers = new Map<Viewer, Promise<void>>();
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
    const server = found && (await dialVnc(found.vncSocket));
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
      const desktop = found as VncServer;
      this.#add(new Viewer(session, desktop.vncPasswords[session.mode], client, server), desktop);
    });
  }

  /** Ends viewers of these sessions; null: all. */
  async close({ sessionIds }: CloseViewers): Promise<void> {
    const ending = [...this.#viewers].filter(
      ([{ session }]) => sessionIds === null || sessionIds.includes(session.sessionId),
    );
    for (const [viewer] of ending) viewer.end(GOING_AWAY, 'The viewer session is over.');
    await Promise.race([
      Promise.all(ending.map(([, ended]) => ended)),
      delay(RELEASE_WITHIN_MS, undefined, { ref: false }),
    ]);
  }

  /** Closes all; no other is opened until `resume`. */
  async quiesce(): Promise<void> {
    this.#accepts = false;
    await this.close({ sessionIds: null });
  }

  resume(): void {
    this.#accepts = true;
  }

  #add(viewer: Viewer, desktop: VncServer): void {
    const ended = this.#afterEnd(viewer, desktop);
    detach(ended);
    this.#viewers.set(viewer, ended);
    if (viewer.session.takeover) this.hooks.onTakeOver();
  }

  /** The computer is given back with no button down. */
  async #afterEnd(viewer: Viewer, desktop: VncServer): Promise<void> {
    await viewer.over;
    if (viewer.session.mode === 'control') await releaseButtons(desktop);
    this.#viewers.delete(viewer);
    const isTakenOver = [...this.#viewers.keys()].some(({ session }) => session.takeover);
    if (viewer.session.takeover && !isTakenOver) this.hooks.onGiveBack();
  }
}
