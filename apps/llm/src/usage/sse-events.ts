/** One event of a `text/event-stream`. */
export interface SseEvent {
  /** The bytes as received, including the blank line at the end. */
  readonly raw: Buffer;
  /** The lines of `data`, joined. */
  readonly data: string;
}

const LF = 10;
const CR = 13;
/** Longer ones are passed on unread. */
const MOST_BYTES = 32 * 1_024 * 1_024;
const NOTHING: Buffer = Buffer.alloc(0);

/** A blank line that ends in a chunk may begin this many bytes before it: CR LF CR. */
const BLANK_LINE_BEGIN = 3;

/** Cuts a stream where its events end, without changing a byte. */
export class SseSplitter {
  /** The chunks of the unfinished event. Joining them with every chunk would take quadratic time. */
  #pending: Buffer[] = [];
  #length = 0;
  /** Its last bytes. */
  #tail: Buffer = NOTHING;

  /** The events that are complete now, in one piece; empty if none is. */
  push(chunk: Buffer): Buffer {
    const searched = joined([this.#tail, chunk]);
    const end = lastEnd(searched);
    const searchedFrom = this.#length - this.#tail.length;
    this.#pending.push(chunk);
    this.#length += chunk.length;
    this.#tail = tailOf(searched);
    if (end > 0) return this.#take(searchedFrom + end);
    return this.#length > MOST_BYTES ? this.rest() : NOTHING;
  }

  /** The unfinished rest at the end of the stream. */
  rest(): Buffer {
    return this.#take(this.#length);
  }

  #take(end: number): Buffer {
    const whole = joined(this.#pending);
    const left = whole.subarray(end);
    this.#pending = [left];
    this.#length = left.length;
    this.#tail = tailOf(left);
    return whole.subarray(0, end);
  }
}

const tailOf = (bytes: Buffer): Buffer => bytes.subarray(Math.max(0, bytes.length - BLANK_LINE_BEGIN));

/** One buffer, copied only where several have bytes. */
const joined = (buffers: readonly Buffer[]): Buffer => {
  const [first = NOTHING, ...more] = buffers.filter(({ length }) => length > 0);
  return more.length === 0 ? first : Buffer.concat([first, ...more]);
};

/** The events of such a piece. */
export const eventsIn = (piece: Buffer): readonly SseEvent[] => {
  const events: SseEvent[] = [];
  for (let start = 0; start < piece.length;) {
    const end = endOfEvent(piece, start) ?? piece.length;
    events.push(toEvent(piece.subarray(start, end)));
    start = end;
  }
  return events;
};

/**
 * The end of the last whole event, 0 if there is none. It is looked for from behind, because reading each byte of a fast
 * stream would take longer than passing it on.
 */
const lastEnd = (bytes: Buffer): number => {
  for (let at = bytes.length - 1; at >= 0; at--) {
    const end = blankLineEnd(bytes, at);
    if (end !== undefined) return end;
  }
  return 0;
};

/** Behind the first blank line. */
const endOfEvent = (bytes: Buffer, from: number): number | undefined => {
  for (let at = from; at < bytes.length; at++) {
    const end = blankLineEnd(bytes, at);
    if (end !== undefined) return end;
  }
  return undefined;
};

/** Behind two line ends in a row, each LF, CR LF or CR, of which the first is at `at`. */
const blankLineEnd = (bytes: Buffer, at: number): number | undefined => {
  const first = lineEnd(bytes, at);
  if (first === 0) return undefined;
  const second = lineEnd(bytes, at + first);
  return second === 0 ? undefined : at + first + second;
};

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
