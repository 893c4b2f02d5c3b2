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

/** Cuts a stream where its events end, without changing a byte. */
export class SseSplitter {
  #pending: Buffer = Buffer.alloc(0);
  #searched = 0;

  /** The events that are complete now, in one piece; empty if none is. */
  push(chunk: Buffer): Buffer {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const { end, searched } = lastEnd(this.#pending, this.#searched);
    if (end > 0) return this.#take(end, searched - end);
    this.#searched = searched;
    return this.#pending.length > MOST_BYTES ? this.rest() : this.#pending.subarray(0, 0);
  }

  /** The unfinished rest at the end of the stream. */
  rest(): Buffer {
    return this.#take(this.#pending.length, 0);
  }

  #take(end: number, searched: number): Buffer {
    const taken = this.#pending.subarray(0, end);
    this.#pending = this.#pending.subarray(end);
    this.#searched = searched;
    return taken;
  }
}

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
 * The end of the last whole event, 0 if there is none, and up to where there is no further one. It is looked for from behind,
 * because reading each byte of a fast stream would take longer than passing it on.
 */
const lastEnd = (bytes: Buffer, from: number): { readonly end: number; readonly searched: number } => {
  const searched = Math.max(0, bytes.length - 3);
  for (let at = bytes.length - 1; at >= from; at--) {
    const end = blankLineEnd(bytes, at);
    if (end !== undefined) return { end, searched: Math.max(end, searched) };
  }
  return { end: 0, searched };
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
