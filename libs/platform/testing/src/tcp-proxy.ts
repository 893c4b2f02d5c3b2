import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Link {
  readonly near: Socket;
  readonly far: Socket;
}

/** A TCP proxy on 127.0.0.1 that can misbehave like a network or a frozen server. */
export class TcpProxy {
  readonly #links = new Set<Link>();
  readonly #server: Server;
  #frozen = false;
  #swallowing = false;
  #refusing = false;
  #answered = 0;

  private constructor(
    private readonly targetPort: number,
    private readonly targetHost: string,
  ) {
    this.#server = createServer((near) => this.#accept(near));
  }

  /** Forwards to `targetPort` of `targetHost` (default 127.0.0.1). */
  static async start(targetPort: number, targetHost = '127.0.0.1'): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort, targetHost);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#links.size;
  }

  /** Bytes that the far side has sent so far. */
  get answeredBytes(): number {
    return this.#answered;
  }

  /** Nothing moves any more, either way; connections stay open and new ones are accepted. */
  freeze(): void {
    this.#frozen = true;
    for (const { near, far } of this.#links) {
      near.pause();
      far.pause();
    }
  }

  /** Requests still arrive, answers wait until `thaw`. */
  holdAnswers(): void {
    for (const { far } of this.#links) far.pause();
  }

  /** What was held back goes on. */
  thaw(): void {
    this.#frozen = false;
    for (const { near, far } of this.#links) {
      near.resume();
      far.resume();
    }
  }

  /** From now on requests arrive but answers are lost; `cut` or `restore` ends it. */
  swallowAnswers(): void {
    this.#swallowing = true;
  }

  /** Breaks every connection; with `refuse` also new ones until `restore`. */
  cut(options: { refuse?: boolean } = {}): void {
    this.#refusing = options.refuse ?? false;
    this.#swallowing = false;
    for (const { near, far } of this.#links) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Behaves again. */
  restore(): void {
    this.#refusing = false;
    this.#swallowing = false;
    this.thaw();
  }

  async stop(): Promise<void> {
    this.cut({ refuse: true });
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: Socket): void {
    if (this.#refusing) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(this.targetPort, this.targetHost);
    const link = { near, far };
    this.#links.add(link);
    near.setNoDelay(true);
    far.setNoDelay(true);
    near.on('data', (chunk) => forward(chunk, near, far));
    far.on('data', (chunk) => {
      this.#answered += chunk.length;
      if (!this.#swallowing) forward(chunk, far, near);
    });
    const end = (): void => {
      this.#links.delete(link);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
    if (this.#frozen) {
      near.pause();
      far.pause();
    }
  }
}

const forward = (chunk: Buffer | string, from: Socket, to: Socket): void => {
  if (to.destroyed || to.write(chunk)) return;
  from.pause();
  to.once('drain', () => from.resume());
};
