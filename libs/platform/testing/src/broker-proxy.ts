import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Decides what happens to one message from the broker; returns whether it has handled the message itself. */
type Fault = (subject: string, deliver: () => void) => boolean;

/**
 * A proxy on 127.0.0.1 in front of a NATS server that loses or holds single messages on their way to a client. Unlike
 * with `TcpProxy`, the protocol stays intact: pings pass, so the client keeps its connection.
 */
export class BrokerProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #fault: Fault | undefined;

  private constructor(private readonly targetPort: number) {
    this.#server = createServer((client) => this.#accept(client));
  }

  static async start(targetPort: number): Promise<BrokerProxy> {
    const proxy = new BrokerProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Discards the next message to `subject`. */
  loseNext(subject: string): void {
    this.#fault = (to) => {
      if (to !== subject) return false;
      this.#fault = undefined;
      return true;
    };
  }

  /** Holds messages to `subject` until there are `copies` of them, then delivers them all at once. */
  holdUntil(subject: string, copies: number): void {
    const held: (() => void)[] = [];
    this.#fault = (to, deliver) => {
      if (to !== subject) return false;
      held.push(deliver);
      if (held.length < copies) return true;
      this.#fault = undefined;
      for (const release of held) release();
      return true;
    };
  }

  /** Whether a fault still waits for its messages. */
  get isArmed(): boolean {
    return this.#fault !== undefined;
  }

  /** Ends a fault that has not occurred. Held messages stay lost. */
  restore(): void {
    this.#fault = undefined;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    const broker = connect(this.targetPort, '127.0.0.1');
    const frames = new Frames((frame, subject) => {
      const deliver = (): void => {
        if (!client.destroyed) client.write(frame);
      };
      if (subject === undefined || this.#fault?.(subject, deliver) !== true) deliver();
    });
    client.on('data', (chunk) => broker.write(chunk));
    broker.on('data', (chunk) => frames.add(chunk as Buffer));
    for (const socket of [client, broker]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      const end = (): void => {
        this.#sockets.delete(socket);
        client.destroy();
        broker.destroy();
      };
      socket.on('error', end).on('close', end);
    }
  }
}

const CRLF = Buffer.from('\r\n');

/** Splits a server's stream into the frames of the NATS protocol; only messages have a subject. */
class Frames {
  #rest: Buffer = Buffer.alloc(0);

  constructor(private readonly onFrame: (frame: Buffer, subject: string | undefined) => void) {}

  add(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const lineEnd = this.#rest.indexOf(CRLF);
      if (lineEnd < 0) return;
      const [operation, subject, ...numbers] = this.#rest.toString('latin1', 0, lineEnd).split(' ');
      const isMessage = operation === 'MSG' || operation === 'HMSG';
      const payload = isMessage ? Number(numbers.at(-1)) + CRLF.length : 0;
      const end = lineEnd + CRLF.length + payload;
      if (this.#rest.length < end) return;
      this.onFrame(this.#rest.subarray(0, end), isMessage ? subject : undefined);
      this.#rest = this.#rest.subarray(end);
    }
  }
}
