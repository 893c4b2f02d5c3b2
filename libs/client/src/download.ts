import type { OpenAnswer } from './open-answer.js';

/** A file that is being downloaded. It can be read once. */
export class Download {
  /** The headers of the answer: `content-type`, `content-length`, `etag`. */
  readonly headers: Headers;
  readonly #answer: OpenAnswer;
  #isRead = false;

  constructor(answer: OpenAnswer) {
    this.headers = answer.response.headers;
    this.#answer = answer;
  }

  /** The bytes as they come. An end that comes too early is a `ServiceConnectionError`. */
  stream(): ReadableStream<Uint8Array> {
    if (this.#isRead) throw new TypeError('The download has been read.');
    this.#isRead = true;
    const chunks = this.#answer.chunks();
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await chunks.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => this.#answer.close(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** All bytes. */
  async bytes(): Promise<Uint8Array> {
    const reader = this.stream().getReader();
    const chunks: Uint8Array[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
    }
    const all = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
    chunks.reduce((at, chunk) => (all.set(chunk, at), at + chunk.length), 0);
    return all;
  }

  /** The file as text. Bytes that are no UTF-8 become U+FFFD. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  /** Ends the download unread. */
  cancel(): void {
    this.#isRead = true;
    this.#answer.close();
  }
}
