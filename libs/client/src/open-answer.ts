import { connectionError, type Redact } from './answers.js';
import { shortBy } from './whole-body.js';
import type { TimeLimit } from './time-limit.js';

/** An answer whose headers are there, and whose body is read as it comes. */
export class OpenAnswer {
  readonly response: Response;
  readonly #limit: TimeLimit;
  readonly #silence: number;
  readonly #redact: Redact;

  constructor(response: Response, limit: TimeLimit, silence: number, redact: Redact) {
    this.response = response;
    this.#limit = limit;
    this.#silence = silence;
    this.#redact = redact;
  }

  /** Whether it is a stream of events. */
  get hasEvents(): boolean {
    return this.response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  }

  /** The bytes as they come; throws a `ServiceConnectionError` for a silence, a break, or an end that comes too early. */
  async *chunks(): AsyncGenerator<Uint8Array, void> {
    const { response } = this;
    const reader = response.body?.getReader();
    let received = 0;
    try {
      for (;;) {
        const { done, value } = await this.#read(reader);
        if (done) break;
        received += value.length;
        yield value;
      }
      const missing = shortBy(response, received);
      if (missing !== undefined) throw missing;
    } finally {
      this.#limit.close();
      reader?.cancel().catch(() => undefined);
    }
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  ): Promise<ReadableStreamReadResult<Uint8Array>> {
    if (reader === undefined) return { done: true, value: undefined };
    this.#limit.restart(this.#silence);
    try {
      return await this.#limit.within(reader.read());
    } catch (error) {
      if (this.#limit.signal.aborted) throw this.#limit.signal.reason;
      throw connectionError(error, this.#redact);
    } finally {
      this.#limit.pause();
    }
  }

  /** All of its body as text. */
  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of this.chunks()) text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  }

  /** Ends it; what waits for it rejects with `reason`. */
  close(reason: unknown = new DOMException('The stream was closed.', 'AbortError')): void {
    this.#limit.abort(reason);
    this.#limit.close();
    if (this.response.body?.locked === false) this.response.body.cancel().catch(() => undefined);
  }
}
