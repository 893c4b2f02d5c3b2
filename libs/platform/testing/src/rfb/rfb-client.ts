import { once } from 'node:events';
import { connect } from 'node:net';
import { ByteQueue } from './byte-queue.js';

const NONE = 1;
/** An encoding that is compressed, and whose rectangles say how long they are. */
const ZRLE = 16;
/** Messages of the server. */
const UPDATE = 0;
const COLOURS = 1;
const CUT_TEXT = 3;

interface Wire {
  send(bytes: Buffer<ArrayBuffer>): void;
  close(): void;
}

/** A client of RFB 3.8 that asks for one update of the screen after the other. */
export class RfbClient {
  readonly #received: ByteQueue;
  readonly #wire: Wire;
  #bytes = 0;

  private constructor(
    received: ByteQueue,
    wire: Wire,
    /** The first line of the server. */
    readonly greeting: string,
    readonly securityTypes: readonly number[],
    readonly display: { readonly width: number; readonly height: number },
    /** Resolves when the connection has ended. */
    readonly closed: Promise<void>,
  ) {
    this.#received = received;
    this.#wire = wire;
  }

  /** Of a VNC server on a Unix socket. */
  static async overSocket(path: string): Promise<RfbClient> {
    const socket = connect(path);
    const received = new ByteQueue();
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        received.end();
        resolve();
      });
    });
    await once(socket, 'connect');
    const wire = { send: (bytes: Buffer) => void socket.write(bytes), close: () => void socket.destroy() };
    return RfbClient.#handshake(received, wire, closed);
  }

  /** Of a VNC server behind a WebSocket. */
  static async overWebSocket(url: string): Promise<RfbClient> {
    const socket = new WebSocket(url, 'binary');
    socket.binaryType = 'arraybuffer';
    const received = new ByteQueue();
    socket.addEventListener('message', ({ data }) => received.push(Buffer.from(data as ArrayBuffer)));
    const closed = new Promise<void>((resolve) => {
      socket.addEventListener('close', () => {
        received.end();
        resolve();
      });
    });
    const wire = {
      send: (bytes: Buffer<ArrayBuffer>) => socket.send(bytes),
      close: () => socket.close(),
    };
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('error', () => reject(new Error(`There is no WebSocket at ${url}.`)));
    });
    return RfbClient.#handshake(received, wire, closed);
  }

  /** How many bytes updates had so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Asks for what has changed and resolves once it is there. */
  async update(): Promise<void> {
    const request = Buffer.from([3, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    request.writeUInt16BE(this.display.width, 6);
    request.writeUInt16BE(this.display.height, 8);
    this.#wire.send(request);
    for (;;) {
      const [type] = await this.#read(1);
      if (type === UPDATE) return this.#skipRectangles();
      if (type === CUT_TEXT) await this.#read((await this.#read(7)).readUInt32BE(3));
      if (type === COLOURS) await this.#read((await this.#read(5)).readUInt16BE(3) * 6);
    }
  }

  close(): void {
    this.#wire.close();
  }

  static async #handshake(received: ByteQueue, wire: Wire, closed: Promise<void>): Promise<RfbClient> {
    const greeting = (await received.read(12)).toString('latin1');
    wire.send(Buffer.from('RFB 003.008\n'));
    const [count = 0] = await received.read(1);
    const types = [...(await received.read(count))];
    wire.send(Buffer.from([NONE]));
    if ((await received.read(4)).readUInt32BE() !== 0) throw new Error('The VNC server wants a password.');
    // Others may look too.
    wire.send(Buffer.from([1]));
    const init = await received.read(24);
    await received.read(init.readUInt32BE(20));
    wire.send(Buffer.from([2, 0, 0, 1, 0, 0, 0, ZRLE]));
    const display = { width: init.readUInt16BE(0), height: init.readUInt16BE(2) };
    return new RfbClient(received, wire, greeting, types, display, closed);
  }

  async #skipRectangles(): Promise<void> {
    const count = (await this.#read(3)).readUInt16BE(1);
    for (let index = 0; index < count; index++) {
      await this.#read(12);
      await this.#read((await this.#read(4)).readUInt32BE());
    }
  }

  async #read(count: number): Promise<Buffer> {
    this.#bytes += count;
    return this.#received.read(count);
  }
}
