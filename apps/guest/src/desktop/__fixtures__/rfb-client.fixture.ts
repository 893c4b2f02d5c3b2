import { once } from 'node:events';
import WebSocket from 'ws';
import { ByteReader } from '../vnc/byte-reader.js';

const RAW = 0;

/** A client of RFB 3.8 over a WebSocket, as viewers have it. */
export class RfbClient {
  /** The code with which the socket was closed. */
  readonly closed: Promise<number>;
  readonly #bytes = new ByteReader();
  width = 0;
  height = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => this.#bytes.push(data as Buffer));
    socket.on('error', () => undefined);
    this.closed = once(socket, 'close').then(([code]) => code as number);
    this.closed.then(
      (code) => this.#bytes.fail(new Error(`closed with ${code}`)),
      () => undefined,
    );
  }

  static async open(url: string): Promise<RfbClient> {
    const client = new RfbClient(new WebSocket(url, 'binary'));
    await once(client.socket, 'open');
    await client.#greet();
    return client;
  }

  /** Of the messages that it has got and not read. */
  get unread(): number {
    return this.#bytes.unread;
  }

  send(...bytes: readonly (Buffer | readonly number[])[]): void {
    this.socket.send(Buffer.concat(bytes.map((part) => Buffer.from(part))));
  }

  pointer(x: number, y: number, buttons = 0): void {
    this.send([5, buttons, x >> 8, x & 0xff, y >> 8, y & 0xff]);
  }

  key(keysym: number): void {
    for (const down of [1, 0]) this.send([4, down, 0, 0], number(keysym));
  }

  cutText(text: string): void {
    this.send([6, 0, 0, 0], number(text.length), Buffer.from(text, 'latin1'));
  }

  encodings(...encodings: readonly number[]): void {
    this.send([2, 0, 0, encodings.length], ...encodings.map(number));
  }

  /** Asks for a part of the screen and returns its pixels, four bytes each. */
  async screen(part: { x: number; y: number; width: number; height: number }): Promise<Buffer> {
    const { x, y, width, height } = part;
    this.encodings(RAW);
    this.send([3, 0], ...[x, y, width, height].map((value) => [value >> 8, value & 0xff]));
    const [type, , , count] = await this.#bytes.read(4);
    if (type !== 0 || count !== 1) throw new Error(`message ${type} with ${count} parts`);
    const head = await this.#bytes.read(12);
    return this.#bytes.read(head.readUInt16BE(4) * head.readUInt16BE(6) * 4);
  }

  /** The next message, which is the text of the clipboard. */
  async cutTextOfServer(): Promise<string> {
    const head = await this.#bytes.read(8);
    if (head[0] !== 3) throw new Error(`message ${head[0]}`);
    return (await this.#bytes.read(head.readUInt32BE(4))).toString('latin1');
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }

  async #greet(): Promise<void> {
    if (this.socket.protocol !== 'binary') throw new Error(`protocol ${this.socket.protocol}`);
    const version = await this.#bytes.read(12);
    this.send(version);
    const types = await this.#bytes.read(2);
    if (version.toString() !== 'RFB 003.008\n' || !types.equals(Buffer.from([1, 1])))
      throw new Error('no RFB 3.8 without security');
    this.send([1]);
    if ((await this.#bytes.read(4)).readUInt32BE() !== 0) throw new Error('refused');
    // Wants to be alone, which nobody is.
    this.send([0]);
    const init = await this.#bytes.read(24);
    this.width = init.readUInt16BE(0);
    this.height = init.readUInt16BE(2);
    await this.#bytes.read(init.readUInt32BE(20));
  }
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
};
