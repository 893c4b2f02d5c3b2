import { KEPT_CHARACTERS } from '@berth/guest-protocol';
import { lastCharacters } from './last-characters.js';

const LONGEST_CHARACTER = 4;
/** Where the oldest bytes were dropped a character may be cut: so many more make sure of the ones that are shown. */
const SPARE_BYTES = 16;
const FIRST_BYTES = 4_096;
/** After so many continuation bytes in a row whatever sequence they were of is over. */
const LONGEST_CONTINUATION = 3;

/** The end of one stream of output, as bytes. It takes as much memory as came, up to a bound; then the oldest go. */
export class OutputTail {
  readonly #most: number;
  #ring: Buffer = Buffer.alloc(0);
  #total = 0;

  constructor(private readonly kept: number = KEPT_CHARACTERS) {
    this.#most = kept * LONGEST_CHARACTER + SPARE_BYTES;
  }

  /** How many bytes have come: the position after the last. */
  get total(): number {
    return this.#total;
  }

  /** The position of the oldest byte that is still there. */
  get start(): number {
    return Math.max(0, this.#total - this.#most);
  }

  push(chunk: Uint8Array): void {
    this.#grow(Math.min(this.#most, this.#total + chunk.length));
    const kept = chunk.length > this.#most ? chunk.subarray(chunk.length - this.#most) : chunk;
    this.#total += chunk.length;
    const at = (this.#total - kept.length) % this.#ring.length || 0;
    const untilEdge = Math.min(kept.length, this.#ring.length - at);
    this.#ring.set(kept.subarray(0, untilEdge), at);
    this.#ring.set(kept.subarray(untilEdge), 0);
  }

  /** A copy of what came from `position` on, which must not lie before `start`; at most so many bytes. */
  read(position: number, most: number): Buffer {
    const length = Math.min(most, this.#total - position);
    if (length === 0) return Buffer.alloc(0);
    const at = position % this.#ring.length;
    const untilEdge = Math.min(length, this.#ring.length - at);
    return Buffer.concat([
      this.#ring.subarray(at, at + untilEdge),
      this.#ring.subarray(0, length - untilEdge),
    ]);
  }

  /** The stream as it is shown, as if all of it had been decoded: UTF-8, the last characters of it (contract §4). */
  text(): string {
    return lastCharacters(this.#fromFirstCharacter().toString('utf8'), this.kept);
  }

  /** As `text`, but a character that has begun stays in the decoder until the rest of it comes. */
  textSoFar(decoder: TextDecoder): string {
    return lastCharacters(decoder.decode(this.#fromFirstCharacter(), { stream: true }), this.kept);
  }

  /** Cut where a decoder that had seen everything before would begin something new. */
  #fromFirstCharacter(): Buffer {
    const bytes = this.read(this.start, this.#most);
    if (this.start === 0) return bytes;
    let skipped = 0;
    while (skipped < LONGEST_CONTINUATION && isContinuation(bytes[skipped])) skipped += 1;
    return bytes.subarray(skipped);
  }

  #grow(needed: number): void {
    if (needed <= this.#ring.length) return;
    const next = Buffer.allocUnsafeSlow(
      Math.min(this.#most, Math.max(needed, 2 * this.#ring.length, FIRST_BYTES)),
    );
    next.set(this.#ring.subarray(0, this.#total));
    this.#ring = next;
  }
}

const isContinuation = (byte = 0): boolean => (byte & 0b1100_0000) === 0b1000_0000;
