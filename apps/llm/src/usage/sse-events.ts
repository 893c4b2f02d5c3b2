/** One event of a `text/event-stream`. */
export interface SseEvent {
  /** As it arrived, its blank line included. */
  readonly raw: Buffer;
  /** The lines of `data`, joined. */
  readonly data: string;
}

const LF = 10;
const CR = 13;
/** Longer ones are passed on unread. */
const MOST_BYTES = 32 * 1_024 * 1_024;

/** Divides a stream into events without changing a byte. */
export class SseSplitter {
  #pending: Buffer = Buffer.alloc(0);
  #searched = 0;

  /** The events that are complete now. */
  push(chunk: Buffer): readonly SseEvent[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const events: SseEvent[] = [];
    for (;;) {
      const end = this.#endOfEvent();
      if (end === undefined) break;
      events.push(toEvent(this.#take(end)));
    }
    if (this.#pending.length > MOST_BYTES) events.push({ raw: this.#take(this.#pending.length), data: '' });
    return events;
  }

  /** What is left when the stream ends. */
  rest(): SseEvent | undefined {
    return this.#pending.length === 0 ? undefined : toEvent(this.#take(this.#pending.length));
  }

  #take(end: number): Buffer {
    const raw = this.#pending.subarray(0, end);
    this.#pending = this.#pending.subarray(end);
    this.#searched = 0;
    return raw;
  }

  /** Behind the first blank line: two line ends in a row, each LF, CR LF or CR. */
  #endOfEvent(): number | undefined {
    const bytes = this.#pending;
    for (let at = this.#searched; at < bytes.length; at++) {
      const first = lineEnd(bytes, at);
      if (first === 0) continue;
      const second = lineEnd(bytes, at + first);
      if (second > 0) return at + first + second;
      at += first - 1;
    }
    this.#searched = Math.max(0, bytes.length - 3);
    return undefined;
  }
}

/** The length of the line end at `at`; 0 if there is none, or if its second byte has not arrived. */
const lineEnd = (bytes: Buffer, at: number): number => {
  if (bytes[at] === LF) return 1;
  if (bytes[at] !== CR || at + 1 >= bytes.length) return 0;
  return bytes[at + 1] === LF ? 2 : 1;
};

const toEvent = (raw: Buffer): SseEvent => ({
  raw,
  data: raw
    .toString('utf8')
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).replace(/^ /, ''))
    .join('\n'),
});
