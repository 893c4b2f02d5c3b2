import { once } from 'node:events';
import {
  connect,
  createServer,
  type AddressInfo,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';

/**
 * How a connection is disturbed. `lose`: drop the bytes and the connection. `cut`: close it once the bytes have passed.
 * `hold`: hold everything back and forward it later. `swallow`: drop responses, then cut. `refuse`: also refuse new
 * connections. `double`: send the bytes twice.
 */
export interface Strike {
  readonly how: 'lose' | 'cut' | 'hold' | 'swallow' | 'refuse' | 'double';
  /** How long it lasts, if it has a duration. */
  readonly forMs: number;
}

/** A strike that waits for its moment. */
export interface Armed {
  readonly struck: boolean;
  /** Resolves once it is over and everything passes again, or once it was disarmed. */
  readonly over: Promise<void>;
  /** Cancels it if it has not struck yet. */
  disarm(): void;
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  /** Bytes that were held back, in order. */
  readonly held: { readonly to: Socket; readonly chunk: Buffer }[];
}

interface Waiting {
  readonly strike: Strike;
  readonly link: Link | undefined;
  left: number;
  struck: boolean;
  readonly over: PromiseWithResolvers<void>;
}

interface Watch {
  readonly mark: string;
  readonly onPassing: (passing: Passing) => void;
}

/** Bytes with a mark that are about to pass for the first time. */
export interface Passing {
  readonly text: string;
  /** Arms a strike that counts this connection's chunks from this one on: 0 strikes this one. */
  arm(strike: Strike, after: number): Armed;
}

/** A proxied connection between two parts, TCP or Unix socket, that can be disturbed at a chosen chunk. */
export class Wire {
  readonly #links = new Set<Link>();
  readonly #watches = new Set<Watch>();
  #waiting: Waiting | undefined;
  #state: 'passing' | 'holding' | 'swallowing' | 'refusing' = 'passing';

  private constructor(
    private readonly target: NetConnectOpts,
    private readonly server: Server,
  ) {
    server.on('connection', (near) => this.#accept(near));
  }

  /** Listens on a new port, or at `path`. */
  static async open(target: NetConnectOpts, path?: string): Promise<Wire> {
    const server = createServer({ allowHalfOpen: true });
    const wire = new Wire(target, server);
    if (path === undefined) server.listen(0, '127.0.0.1');
    else server.listen(path);
    await once(server, 'listening');
    return wire;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Calls `onPassing` before the first bytes with the mark pass; returns a function that stops that. */
  watch(mark: string, onPassing: (passing: Passing) => void): () => void {
    const watch = { mark, onPassing };
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  /** Strikes at the chunk that is `after` chunks away, on any connection. One strike at a time. */
  arm(strike: Strike, after: number): Armed {
    return this.#arm(strike, after, undefined);
  }

  async close(): Promise<void> {
    this.#state = 'refusing';
    for (const link of this.#links) reset(link);
    this.server.close();
    await once(this.server, 'close');
  }

  #arm(strike: Strike, after: number, link: Link | undefined): Armed {
    const waiting: Waiting = { strike, link, left: after, struck: false, over: Promise.withResolvers() };
    this.#waiting?.over.resolve();
    this.#waiting = waiting;
    return {
      get struck() {
        return waiting.struck;
      },
      over: waiting.over.promise,
      disarm: () => {
        if (waiting.struck) return;
        if (this.#waiting === waiting) this.#waiting = undefined;
        waiting.over.resolve();
      },
    };
  }

  #accept(near: Socket): void {
    if (this.#state === 'refusing') {
      near.destroy();
      return;
    }
    const far = connect({ ...this.target, allowHalfOpen: true });
    const link: Link = { near, far, held: [] };
    this.#links.add(link);
    near.setNoDelay(true);
    far.setNoDelay(true);
    near.on('data', (chunk: Buffer) => this.#pass(link, chunk, far));
    far.on('data', (chunk: Buffer) => this.#pass(link, chunk, near));
    near.on('end', () => far.end());
    far.on('end', () => near.end());
    const end = (): void => {
      this.#links.delete(link);
      // Bytes already written still arrive, as with a kernel socket.
      for (const socket of [near, far]) if (!socket.destroyed) socket.destroySoon();
    };
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
    if (this.#state === 'holding') pause(link);
  }

  #pass(link: Link, chunk: Buffer, to: Socket): void {
    for (const watch of [...this.#watches]) {
      if (!chunk.includes(watch.mark)) continue;
      this.#watches.delete(watch);
      watch.onPassing({
        text: chunk.toString('latin1'),
        arm: (strike, after) => this.#arm(strike, after, link),
      });
    }
    const waiting = this.#waiting;
    if (waiting !== undefined && (waiting.link ?? link) === link && waiting.left-- <= 0) {
      this.#waiting = undefined;
      waiting.struck = true;
      this.#strike(waiting, link, chunk, to);
    } else if (this.#state === 'holding') {
      link.held.push({ to, chunk });
    } else if (this.#state !== 'swallowing' || to === link.far) {
      forward(chunk, to === link.far ? link.near : link.far, to);
    }
  }

  #strike({ strike, over }: Waiting, link: Link, chunk: Buffer, to: Socket): void {
    switch (strike.how) {
      case 'lose':
        reset(link);
        return over.resolve();
      case 'cut':
        to.end(chunk);
        resetSocket(to === link.far ? link.near : link.far);
        return over.resolve();
      case 'double':
        to.write(chunk);
        to.write(chunk);
        return over.resolve();
      case 'hold':
        this.#state = 'holding';
        for (const one of this.#links) pause(one);
        link.held.push({ to, chunk });
        break;
      case 'swallow':
        this.#state = 'swallowing';
        if (to === link.far) to.write(chunk);
        break;
      case 'refuse':
        this.#state = 'refusing';
        for (const one of this.#links) reset(one);
        break;
    }
    setTimeout(() => {
      this.#heal();
      over.resolve();
    }, strike.forMs);
  }

  #heal(): void {
    const was = this.#state;
    this.#state = 'passing';
    for (const link of this.#links) {
      if (was === 'swallowing') reset(link);
      for (const { to, chunk } of link.held.splice(0)) to.write(chunk);
      link.near.resume();
      link.far.resume();
    }
  }
}

const pause = ({ near, far }: Link): void => {
  near.pause();
  far.pause();
};

const reset = ({ near, far }: Link): void => {
  resetSocket(near);
  resetSocket(far);
};

/** Only TCP connections can be reset. */
const resetSocket = (socket: Socket): void => {
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
};

const forward = (chunk: Buffer, from: Socket, to: Socket): void => {
  if (to.destroyed || to.writableEnded || to.write(chunk)) return;
  from.pause();
  to.once('drain', () => from.resume());
};
