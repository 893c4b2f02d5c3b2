import { setTimeout as delay } from 'node:timers/promises';
import { asleep, openProcesses, type FindProcess } from './idle-client.js';
import { XProtocolError } from '../x11/x-errors.js';
import { internAtom, type XConnection } from '../x11/x-connection.js';
import { packRequest, u32, u8 } from '../x11/x-packing.js';

const CLIENT_MESSAGE = 33;
const SUBSTRUCTURE_NOTIFY = 0x80000;
const EVENT_MASK = 0x800;
/** How long a program may take to read its events, and one of which nothing is known. */
const ANSWER_MS = 3_000;
const UNSEEN_MS = 500;
/** How long is waited for a program that never rests, such as a browser that plays a film. */
const SETTLE_MS = 1_000;

/** Tells when the program with the keyboard has read all events that were sent to it. */
export class ReadingBarrier {
  #stamp = 0;

  private constructor(
    private readonly connection: XConnection,
    private readonly processOf: FindProcess,
    private readonly atoms: { readonly active: number; readonly protocols: number; readonly ping: number },
  ) {}

  static async open(connection: XConnection): Promise<ReadingBarrier> {
    const [active = 0, protocols = 0, ping = 0] = await Promise.all(
      ['_NET_ACTIVE_WINDOW', 'WM_PROTOCOLS', '_NET_WM_PING'].map((name) => internAtom(connection, name)),
    );
    return new ReadingBarrier(connection, await openProcesses(connection), { active, protocols, ping });
  }

  /**
   * Resolves when the active window has answered a ping, which it reads after the events before it. Of programs that
   * answer none, such as xterm, when their process has gone to sleep. Those that do neither get a fixed time.
   */
  async pass(): Promise<void> {
    const { active, protocols, ping } = this.atoms;
    const { root } = this.connection.setup;
    const window = (await this.#words(root, active))[0] ?? 0;
    if (window !== 0 && (await this.#words(window, protocols)).includes(ping)) return this.#ping(window);
    return this.#sleeps(window, ANSWER_MS);
  }

  /**
   * Resolves when the program has read the events of all its connections, and has done what they are for: its process has
   * gone to sleep.
   */
  async settle(): Promise<void> {
    const { root } = this.connection.setup;
    return this.#sleeps((await this.#words(root, this.atoms.active))[0] ?? 0, SETTLE_MS);
  }

  async #sleeps(window: number, mostMs: number): Promise<void> {
    const focus = await this.connection.ask(packRequest(43, 0));
    const pid = await ifThere(this.processOf(window === 0 ? focus.readUInt32LE(8) : window));
    const isRead = pid !== undefined && (await asleep(this.connection, pid, mostMs));
    if (!isRead) await delay(UNSEEN_MS);
  }

  async #ping(window: number): Promise<void> {
    const { protocols, ping } = this.atoms;
    const { root } = this.connection.setup;
    const stamp = ++this.#stamp;
    const answered = Promise.withResolvers<void>();
    const forget = this.connection.onEvent(CLIENT_MESSAGE, (event) => {
      if (event.readUInt32LE(12) === ping && event.readUInt32LE(16) === stamp) answered.resolve();
    });
    this.#listen(root, SUBSTRUCTURE_NOTIFY);
    const message = Buffer.concat([
      u8(CLIENT_MESSAGE, 32, 0, 0),
      u32(window, protocols, ping, stamp, window, 0, 0),
    ]);
    const forgetLoss = this.connection.onLoss(answered.reject);
    const late = setTimeout(answered.resolve, ANSWER_MS);
    try {
      this.connection.send(packRequest(25, 0, u32(window, 0), message));
      await answered.promise;
    } finally {
      clearTimeout(late);
      forgetLoss();
      forget();
      this.#listen(root, 0);
    }
  }

  #listen(window: number, mask: number): void {
    this.connection.send(packRequest(2, 0, u32(window, EVENT_MASK, mask)));
  }

  /** The first 32 words of a property; none if the window is gone. */
  async #words(window: number, property: number): Promise<readonly number[]> {
    const any = 0;
    const reply = await ifThere(this.connection.ask(packRequest(20, 0, u32(window, property, any, 0, 32))));
    if (reply?.[1] !== 32) return [];
    return Array.from({ length: reply.readUInt32LE(16) }, (_, index) => reply.readUInt32LE(32 + index * 4));
  }
}

/** What the server answers about a window; undefined if that is gone. */
const ifThere = async <Answer>(asked: Promise<Answer>): Promise<Answer | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof XProtocolError) return undefined;
    throw error;
  }
};
