import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Link {
  readonly serial: number;
  readonly near: Socket;
  readonly far: Socket;
}

/** A TCP proxy on 127.0.0.1 that can simulate a faulty network or a frozen server. */
export class TcpProxy {
  readonly #links = new Set<Link>();
  readonly #server: Server;
  #frozen = false;
  #holding = false;
  #dropping = false;
  #refusing = false;
  #responseBytes = 0;
  #accepted = 0;
  #delayMs = 0;

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

  /** Number of open connections. */
  get connections(): number {
    return this.#links.size;
  }

  /** Number of connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** How many of the first `count` connections are still open. */
  openOfFirst(count: number): number {
    return [...this.#links].filter(({ serial }) => serial <= count).length;
  }

  /** Bytes that the target has sent so far. */
  get responseBytes(): number {
    return this.#responseBytes;
  }

  /** Stops all traffic in both directions; connections stay open and new ones are accepted. */
  freeze(): void {
    this.#frozen = true;
    for (const { near, far } of this.#links) {
      near.pause();
      far.pause();
    }
  }

  /** Stops all traffic on the connections that are open; new connections work. */
  freezeOpen(): void {
    for (const { near, far } of this.#links) {
      near.pause();
      far.pause();
    }
  }

  /** Delays responses by this time, until `restore`. */
  slow(millis: number): void {
    this.#delayMs = millis;
  }

  /** Forwards requests but holds responses back until `thaw`, also on new connections. */
  holdResponses(): void {
    this.#holding = true;
    for (const { far } of this.#links) far.pause();
  }

  /** Forwards everything that was held back. */
  thaw(): void {
    this.#frozen = false;
    this.#holding = false;
    for (const { near, far } of this.#links) {
      near.resume();
      far.resume();
    }
  }

  /** Forwards requests but discards responses, until `cut` or `restore`. */
  dropResponses(): void {
    this.#dropping = true;
  }

  /** Breaks every connection; with `refuse`, new ones too, until `restore`. */
  cut(options: { refuse?: boolean } = {}): void {
    this.#refusing = options.refuse ?? false;
    this.#dropping = false;
    for (const { near, far } of this.#links) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Ends all simulated faults. */
  restore(): void {
    this.#refusing = false;
    this.#dropping = false;
    this.#delayMs = 0;
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
    this.#accepted += 1;
    const far = connect(this.targetPort, this.targetHost);
    const link = { serial: this.#accepted, near, far };
    this.#links.add(link);
    near.setNoDelay(true);
    far.setNoDelay(true);
    const responses = new DelayedChunks((chunk) => forward(chunk, far, near));
    near.on('data', (chunk) => forward(chunk, near, far));
    far.on('data', (chunk) => {
      this.#responseBytes += chunk.length;
      if (this.#dropping) return;
      responses.add(chunk, this.#delayMs);
    });
    const end = (): void => {
      this.#links.delete(link);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
    if (this.#frozen) near.pause();
    if (this.#frozen || this.#holding) far.pause();
  }
}

/** Forwards chunks in order, each after the delay. */
class DelayedChunks {
  readonly #waiting: { readonly chunk: Buffer | string; readonly at: number }[] = [];

  constructor(private readonly pass: (chunk: Buffer | string) => void) {}

  add(chunk: Buffer | string, delayMs: number): void {
    if (delayMs === 0 && this.#waiting.length === 0) {
      this.pass(chunk);
      return;
    }
    this.#waiting.push({ chunk, at: performance.now() + delayMs });
    if (this.#waiting.length === 1) this.#wait();
  }

  #wait(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    setTimeout(
      () => {
        this.#waiting.shift();
        this.pass(first.chunk);
        this.#wait();
      },
      Math.max(0, first.at - performance.now()),
    );
  }
}

const forward = (chunk: Buffer | string, from: Socket, to: Socket): void => {
  if (to.destroyed || to.write(chunk)) return;
  from.pause();
  to.once('drain', () => from.resume());
};
