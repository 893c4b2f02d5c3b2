import { invalidResponse, isObject, parsed } from './answers.js';
import type { Call } from './call.js';
import type { CallOptions } from './config.js';
import { ServiceConnectionError, ServiceError } from './errors.js';
import { EventDecoder } from './events.js';
import type { OpenAnswer } from './open-answer.js';
import { backoffMs } from './retry.js';
import type { LogEntry } from './schemas.generated.js';
import { TimeLimit } from './time-limit.js';
import type { Transport } from './transport.js';

/** The entries of a log as they are written. Connections that break are made again, and nothing is missed. */
export class LogStream implements AsyncIterable<LogEntry> {
  readonly #transport: Transport;
  readonly #call: () => Call;
  readonly #options: CallOptions;
  readonly #closed = new AbortController();
  #lastId: string | undefined;

  constructor(transport: Transport, call: () => Call, options: CallOptions) {
    this.#transport = transport;
    this.#call = call;
    this.#options = options;
  }

  /** Ends the stream; an iteration under way ends quietly. */
  close(): void {
    this.#closed.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LogEntry, void> {
    const { signal } = this.#options;
    const close = (): void => this.close();
    if (signal?.aborted === true) return;
    signal?.addEventListener('abort', close);
    try {
      yield* this.#entries();
    } catch (error) {
      if (!this.#closed.signal.aborted) throw error;
    } finally {
      signal?.removeEventListener('abort', close);
    }
  }

  async *#entries(): AsyncGenerator<LogEntry, void> {
    let isConnected = false;
    for (let failures = 0; !this.#closed.signal.aborted; failures++) {
      try {
        const answer = await this.#connect();
        isConnected = true;
        for await (const entry of this.#read(answer)) {
          failures = 0;
          yield entry;
        }
      } catch (error) {
        if (!isConnected || !passes(error)) throw error;
      }
      await this.#pause(backoffMs(failures));
    }
  }

  async #connect(): Promise<OpenAnswer> {
    const call = this.#call();
    const last: Record<string, string> = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId };
    const headers = { ...call.headers, ...last };
    const answer = await this.#transport.open(
      { ...call, headers },
      { ...this.#options, signal: this.#closed.signal },
    );
    if (answer.hasEvents) return answer;
    throw invalidResponse(answer.response, await answer.text(), this.#transport.redact);
  }

  async *#read(answer: OpenAnswer): AsyncGenerator<LogEntry, void> {
    const decoder = new EventDecoder(this.#lastId);
    for await (const chunk of answer.chunks())
      for (const event of decoder.feed(chunk)) {
        const entry = event.name === 'log' ? parsed(event.data) : undefined;
        this.#lastId = decoder.lastId;
        if (isObject(entry)) yield entry as unknown as LogEntry;
      }
  }

  async #pause(ms: number): Promise<void> {
    const limit = new TimeLimit(Infinity, this.#closed.signal);
    try {
      await limit.sleep(ms);
    } finally {
      limit.close();
    }
  }
}

/** Whether to connect again after this error. */
const passes = (error: unknown): boolean =>
  error instanceof ServiceConnectionError ||
  (error instanceof ServiceError && error.status !== undefined && error.status >= 500);
