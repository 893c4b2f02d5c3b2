import { backoff, pause } from '@berth/supervision';
import type { DedicatedConnection } from './dedicated-connection.js';
import type { SharedSession } from './shared-session.js';
import { quoteIdentifier } from './sql-runner.js';
import type { DatabaseLog } from './log.js';

/** Stops a `listen`. */
export type Unlisten = () => void;

const ANSWER_MS = 3_000;

type Heard = (payload: string | null) => void;

/** LISTENs on the shared session on behalf of the whole process, and again after its loss. */
export class NotificationListener {
  readonly #heard = new Map<string, Set<Heard>>();
  readonly #stop = new AbortController();
  #connection: DedicatedConnection | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly session: SharedSession,
    private readonly log: DatabaseLog,
  ) {}

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  listen(channel: string, heard: Heard): Unlisten {
    const listeners = this.#heard.get(channel) ?? new Set<Heard>();
    listeners.add(heard);
    this.#heard.set(channel, listeners);
    this.#running ??= this.#run();
    if (listeners.size === 1) void this.#subscribe(channel);
    return () => {
      listeners.delete(heard);
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #subscribe(channel: string): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    try {
      await listenOn(connection, channel);
      this.#tell(channel, null);
    } catch {
      // The loop then leases a new connection, which listens to every channel.
    }
  }

  async #run(): Promise<void> {
    for (let attempt = 0; !this.#stop.signal.aborted; attempt++) {
      try {
        await this.#listenUntilLost(() => {
          attempt = 0;
        });
      } catch (error) {
        if (attempt === 0) this.log.warn({ err: error }, 'cannot listen for notifications, retrying');
      }
      await pause(backoff(attempt, 50, 2_000), this.#stop.signal);
    }
  }

  async #listenUntilLost(connected: () => void): Promise<void> {
    const lease = await this.session.lease();
    const { connection } = lease;
    const deafen = connection.onNotification(({ channel, payload }) => this.#tell(channel, payload ?? ''));
    try {
      const channels = [...this.#heard.keys()];
      for (const channel of channels) await listenOn(connection, channel);
      this.#connection = connection;
      connected();
      for (const channel of this.#heard.keys()) {
        if (channels.includes(channel)) this.#tell(channel, null);
        else await this.#subscribe(channel);
      }
      await aborted(connection.closed, this.#stop.signal);
    } finally {
      this.#connection = undefined;
      deafen();
      await lease.release();
    }
  }

  #tell(channel: string, payload: string | null): void {
    for (const heard of this.#heard.get(channel) ?? []) {
      try {
        heard(payload);
      } catch (error) {
        this.log.error({ err: error, channel }, 'a notification listener failed');
      }
    }
  }
}

/** Closes the connection if the statement fails, because it may have hung. */
const listenOn = async (connection: DedicatedConnection, channel: string): Promise<void> => {
  try {
    await connection.query(`LISTEN ${quoteIdentifier(channel)}`, [], ANSWER_MS);
  } catch (error) {
    void connection.close();
    throw error;
  }
};

const aborted = (...signals: AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    const any = AbortSignal.any(signals);
    if (any.aborted) resolve();
    else any.addEventListener('abort', () => resolve(), { once: true });
  });
