import type { ReadStream, WriteStream } from 'node:tty';
import type { RawData, WebSocket } from 'ws';
import { CliError, EXIT, type ExitCode } from '../cli-error.js';
import { EscapeSequence } from './escape-sequence.js';

/** The terminal in front of the reader. */
export interface LocalTerminal {
  readonly input: ReadStream;
  readonly output: WriteStream;
}

/** With more than this on the way to the agent, no more keys are read. */
const HIGH_WATER_BYTES = 256 * 1024;
/** The service pings every 15 s; without three of them the connection is gone. */
const SILENT_MS = 45_000;
const CLOSED_WITHIN_MS = 1_000;
/** The signals that end this program; it restores the terminal first. */
const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;
const NORMAL = 1000;
const ENDINGS: ReadonlyMap<number, readonly [ExitCode, string]> = new Map([
  [1001, [EXIT.unavailable, 'The service stops. Open the console again in a moment.']],
  [1008, [EXIT.refused, 'The key is no longer valid.']],
  [1011, [EXIT.unavailable, 'The agent is gone: it was put to sleep, stopped or deleted.']],
]);

/** Connects the terminal with a shell in an agent. */
export class ConsoleSession {
  readonly #escape = new EscapeSequence();
  #silence: NodeJS.Timeout | undefined;
  #hasLeft = false;
  #signal: NodeJS.Signals | undefined;

  /** `socket` is open and paused. */
  constructor(
    private readonly socket: WebSocket,
    private readonly terminal: LocalTerminal,
  ) {}

  /**
   * Resolves when the shell has ended or the reader has left with `~.`. The terminal is in raw mode meanwhile, and
   * afterwards as before. Throws `CliError` if something else ended the console.
   */
  async run(): Promise<void> {
    const closed = new Promise<number>((resolve) => this.socket.once('close', resolve));
    this.#attach();
    const code = await closed;
    this.#detach();
    if (this.#signal !== undefined) process.kill(process.pid, this.#signal);
    if (this.#hasLeft || code === NORMAL) return;
    const [exitCode, message] = ENDINGS.get(code) ?? [EXIT.unavailable, 'The connection was lost.'];
    throw new CliError(exitCode, message);
  }

  #attach(): void {
    const { input, output } = this.terminal;
    // What follows an error is the end of the connection.
    this.socket
      .on('error', () => undefined)
      .on('message', this.#show)
      .on('ping', this.#hear);
    this.#hear();
    output.on('resize', this.#resize);
    input.on('data', this.#type).once('end', this.#leave);
    for (const name of SIGNALS) process.on(name, this.#endBy);
    process.once('exit', this.#restore);
    input.setRawMode(true);
    input.resume();
    this.socket.resume();
    // The window may have changed since the size was sent.
    this.#resize();
  }

  #detach(): void {
    const { input, output } = this.terminal;
    clearTimeout(this.#silence);
    this.#restore();
    input.pause();
    input.off('data', this.#type).off('end', this.#leave);
    output.off('resize', this.#resize);
    for (const name of SIGNALS) process.off(name, this.#endBy);
    process.off('exit', this.#restore);
  }

  readonly #restore = (): void => void this.terminal.input.setRawMode(false);

  readonly #leave = (): void => {
    this.#hasLeft = true;
    this.socket.close(NORMAL);
    setTimeout(() => this.socket.terminate(), CLOSED_WITHIN_MS).unref();
  };

  readonly #endBy = (name: NodeJS.Signals): void => {
    this.#signal = name;
    this.#leave();
  };

  readonly #hear = (): void => {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.socket.terminate(), SILENT_MS);
  };

  readonly #resize = (): void => {
    const { columns, rows } = this.terminal.output;
    this.socket.send(JSON.stringify({ type: 'resize', cols: columns, rows }));
  };

  readonly #show = (data: RawData): void => {
    if (this.terminal.output.write(data as Buffer)) return;
    this.socket.pause();
    this.terminal.output.once('drain', () => this.socket.resume());
  };

  readonly #type = (keys: Buffer): void => {
    const { bytes, leaves } = this.#escape.read(keys);
    if (this.socket.bufferedAmount > HIGH_WATER_BYTES) {
      this.terminal.input.pause();
      this.socket.send(bytes, { binary: true }, () => void this.terminal.input.resume());
    } else if (bytes.length > 0) {
      this.socket.send(bytes, { binary: true });
    }
    if (leaves) this.#leave();
  };
}
