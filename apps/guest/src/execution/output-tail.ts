import { KEPT_CHARACTERS } from '@berth/guest-protocol';
import { lastCharacters } from './last-characters.js';
import type { OutputRings, Ring } from './output-rings.js';

const MAX_CHARACTER_BYTES = 4;
/** Dropping the oldest bytes may split a character; this many extra bytes keep the displayed ones intact. */
const SPARE_BYTES = 16;
const FIRST_BYTES = 4_096;
/** Number of consecutive continuation bytes after which any sequence is over. */
const MAX_CONTINUATION_BYTES = 3;

/** The end of one output stream, as bytes. Grows with the output up to a limit, then the oldest bytes are dropped. */
export class OutputTail {
  readonly #maxBytes: number;
  #ring: Ring | undefined;
  #total = 0;

  constructor(
    private readonly rings: OutputRings,
    readonly kept: number = KEPT_CHARACTERS,
  ) {
    this.#maxBytes = kept * MAX_CHARACTER_BYTES + SPARE_BYTES;
  }

  /** Number of bytes received: the position after the last. */
  get total(): number {
    return this.#total;
  }

  /** Position of the oldest byte that is still retained. */
  get start(): number {
    return Math.max(0, this.#total - this.#maxBytes);
  }

  push(chunk: Uint8Array): void {
    const ring = this.#grown(Math.min(this.#maxBytes, this.#total + chunk.length));
    const kept = chunk.length > this.#maxBytes ? chunk.subarray(chunk.length - this.#maxBytes) : chunk;
    this.#total += chunk.length;
    const at = (this.#total - kept.length) % ring.length || 0;
    const untilEdge = Math.min(kept.length, ring.length - at);
    ring.write(kept.subarray(0, untilEdge), at);
    if (untilEdge < kept.length) ring.write(kept.subarray(untilEdge), 0);
  }

  /** A copy of up to `maxBytes` bytes from `position`, which must not be before `start`. */
  read(position: number, maxBytes: number): Buffer {
    const length = Math.min(maxBytes, this.#total - position);
    if (length === 0 || this.#ring === undefined) return Buffer.alloc(0);
    const at = position % this.#ring.length;
    const untilEdge = Math.min(length, this.#ring.length - at);
    return Buffer.concat([this.#ring.read(at, at + untilEdge), this.#ring.read(0, length - untilEdge)]);
  }

  /** Frees its memory; it is not used any more. */
  release(): void {
    this.#ring?.release();
    this.#ring = undefined;
  }

  /** The stream in display form: its last characters, as if all of it had been decoded as UTF-8. */
  text(): string {
    return lastCharacters(this.read(this.firstCharacter, this.#maxBytes).toString('utf8'), this.kept);
  }

  /** Position of the first retained byte where a decoder of the whole stream would start a new character. */
  get firstCharacter(): number {
    const { start } = this;
    if (start === 0) return 0;
    const first = this.read(start, MAX_CONTINUATION_BYTES);
    const skipped = first.findIndex((byte) => !isContinuation(byte));
    return start + (skipped === -1 ? first.length : skipped);
  }

  #grown(needed: number): Ring {
    const ring = this.#ring;
    if (ring !== undefined && needed <= ring.length) return ring;
    const length = Math.min(this.#maxBytes, Math.max(needed, 2 * (ring?.length ?? 0), FIRST_BYTES));
    const next = this.rings.create(length, this.#maxBytes);
    if (ring !== undefined) {
      next.write(ring.read(0, this.#total), 0);
      ring.release();
    }
    this.#ring = next;
    return next;
  }
}

const isContinuation = (byte: number): boolean => (byte & 0b1100_0000) === 0b1000_0000;
