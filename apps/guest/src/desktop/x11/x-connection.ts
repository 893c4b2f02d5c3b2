import { connect, type Socket } from 'node:net';
import { MessageReader } from './message-reader.js';
import { displayLost, displayUnresponsive, XProtocolError } from './x-errors.js';
import { packRequest, u16, u32 } from './x-packing.js';
import { packHello, readSetup, type XSetup } from './x-setup.js';

/** How long an answer may take. Nothing but a frozen server needs a tenth of it. */
const ANSWER_MS = 10_000;
/** What one read may bring: the server sends the pixels of a screen in pieces of this size. */
const READ_BYTES = 262_144;
const QUERY_EXTENSION = 98;
const GET_INPUT_FOCUS = 43;

/** The X server of a desktop, and what its clients need to know. */
export interface XDisplay {
  readonly socket: string;
  /** The secret of the display; without it nobody connects. */
  readonly cookie: Buffer;
}

/** The numbers that a server has given to an extension. */
export interface XExtension {
  readonly opcode: number;
  readonly firstEvent: number;
}

interface Waiting {
  readonly sequence: number;
  readonly resolve: (reply: Buffer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A connection to an X server over its Unix socket. Requests are sent at once and in order; replies are matched by their
 * order. Errors of requests without a reply are dropped: they are about windows that have closed meanwhile.
 */
export class XConnection {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  readonly #handlers = new Map<number, Set<(event: Buffer) => void>>();
  readonly #lost = Promise.withResolvers<Error>();
  readonly #onLoss = new Set<(reason: Error) => void>();
  #setup: XSetup | undefined;
  #sequence = 0;
  #nextId = 0;
  #corked = false;
  #loss: Error | undefined;

  private constructor(socket: string, greeted: (answer: Buffer) => void) {
    const reader = new MessageReader((message) =>
      this.#setup === undefined ? greeted(message) : this.#take(message),
    );
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (bytes: number, buffer: Uint8Array) => {
        reader.read(buffer as Buffer, bytes);
        return true;
      },
    };
    this.#socket = connect({ path: socket, onread });
    this.#socket.on('error', (error) => this.#lose(displayLost(error)));
    this.#socket.on('close', () => this.#lose(displayLost()));
  }

  /** Errors: unavailable `display_lost`, timeout `display_unresponsive`, unsupported `display_unsupported`. */
  static async open({ socket, cookie }: XDisplay): Promise<XConnection> {
    const greeted = Promise.withResolvers<Buffer>();
    const connection = new XConnection(socket, greeted.resolve);
    try {
      connection.#socket.write(packHello(cookie));
      const lost = connection.lost.then((error) => Promise.reject(error));
      const answer = await within(ANSWER_MS, Promise.race([greeted.promise, lost]));
      connection.#setup = readSetup(answer);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  get setup(): XSetup {
    if (this.#setup === undefined) throw displayLost();
    return this.#setup;
  }

  /** Resolves with the reason when the connection has ended. */
  get lost(): Promise<Error> {
    return this.#lost.promise;
  }

  /** Calls `handle` when the connection ends, until the returned function is called. */
  onLoss(handle: (reason: Error) => void): () => void {
    this.#onLoss.add(handle);
    return () => void this.#onLoss.delete(handle);
  }

  /** A number for a new resource of the server. */
  newId(): number {
    return this.setup.resourceBase + ++this.#nextId;
  }

  /** Sends requests that have no reply. Errors: unavailable `display_lost`. */
  send(...requests: readonly Buffer[]): void {
    if (this.#loss !== undefined) throw this.#loss;
    // One write for all requests of a turn.
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#socket.uncork();
      });
    }
    for (const request of requests) {
      this.#sequence = (this.#sequence + 1) & 0xffff;
      this.#socket.write(request);
    }
  }

  /**
   * Sends a request and returns its reply, the 32 bytes of its header included. Errors: unavailable `display_lost`, timeout
   * `display_unresponsive`, `XProtocolError`.
   */
  ask(request: Buffer): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    try {
      this.send(request);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    this.#waiting.push({ sequence: this.#sequence, resolve, reject });
    return within(ANSWER_MS, promise);
  }

  /** Resolves when the server has carried out everything that was sent before. */
  async sync(): Promise<void> {
    await this.ask(packRequest(GET_INPUT_FOCUS, 0));
  }

  /** The numbers of an extension; undefined if the server lacks it. */
  async extension(name: string): Promise<XExtension | undefined> {
    const reply = await this.ask(packRequest(QUERY_EXTENSION, 0, u16(name.length, 0), Buffer.from(name)));
    return reply[8] === 1 ? { opcode: reply[9] ?? 0, firstEvent: reply[10] ?? 0 } : undefined;
  }

  /** Calls `handle` for each event with that number, until the returned function is called. */
  onEvent(code: number, handle: (event: Buffer) => void): () => void {
    const handlers = this.#handlers.get(code) ?? new Set();
    this.#handlers.set(code, handlers.add(handle));
    return () => void handlers.delete(handle);
  }

  close(): void {
    this.#lose(displayLost());
  }

  #take(message: Buffer): void {
    const kind = message[0] ?? 0;
    if (kind > 1) {
      for (const handle of this.#handlers.get(kind & 0x7f) ?? []) handle(message);
      return;
    }
    const [first] = this.#waiting;
    if (first === undefined || first.sequence !== message.readUInt16LE(2)) return;
    this.#waiting.shift();
    if (kind === 1) first.resolve(message);
    else first.reject(new XProtocolError(message[1] ?? 0, `${message[10]}.${message.readUInt16LE(8)}`));
  }

  #lose(reason: Error): void {
    if (this.#loss !== undefined) return;
    this.#loss = reason;
    this.#socket.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
    for (const handle of this.#onLoss) handle(reason);
    this.#lost.resolve(reason);
  }
}

const within = async <T>(milliseconds: number, work: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(displayUnresponsive()), milliseconds);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** The number of a name that programs on a display use for properties, selections and messages. */
export const internAtom = async (connection: XConnection, name: string): Promise<number> => {
  const reply = await connection.ask(packRequest(16, 0, u16(name.length, 0), Buffer.from(name)));
  return reply.readUInt32LE(8);
};

/** A window that is never shown, for properties and selections, with the events of `mask`. */
export const createHiddenWindow = (connection: XConnection, mask: number): number => {
  const window = connection.newId();
  const { root } = connection.setup;
  const inputOnly = 2;
  const eventMask = 0x800;
  connection.send(
    packRequest(1, 0, u32(window, root), u16(-1, -1, 1, 1, 0, inputOnly), u32(0, eventMask, mask)),
  );
  return window;
};
