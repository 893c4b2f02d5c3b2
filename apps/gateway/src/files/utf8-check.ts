import { isUtf8 } from 'node:buffer';

/** Checks whether bytes that arrive in chunks are UTF-8. Reads each byte once and decodes nothing. */
export class Utf8Check {
  /** The bytes of an incomplete character: 0 to 3. */
  #open: Uint8Array = EMPTY;

  /** Whether all bytes so far are valid UTF-8, except that the last character may be incomplete. */
  accepts(piece: Uint8Array): boolean {
    const start = this.#open.length === 0 ? 0 : missing(this.#open);
    if (start > piece.length) return this.#grow(piece);
    if (start > 0 && !isUtf8(Buffer.concat([this.#open, piece.subarray(0, start)]))) return false;
    const end = Math.max(start, openingAt(piece));
    this.#open = end === piece.length ? EMPTY : Uint8Array.from(piece.subarray(end));
    return isUtf8(piece.subarray(start, end));
  }

  /** Whether the last character is complete. */
  get isWhole(): boolean {
    return this.#open.length === 0;
  }

  #grow(piece: Uint8Array): boolean {
    this.#open = Buffer.concat([this.#open, piece]);
    return this.#open.length < MAX_BYTES;
  }
}

const EMPTY = new Uint8Array(0);
const MAX_BYTES = 4;

/** Length of the sequence that a leading byte announces; 1 for any other byte, which `isUtf8` then refuses. */
const lengthOf = (lead: number): number => {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
};

const missing = (open: Uint8Array): number => lengthOf(open[0] ?? 0) - open.length;

/** Start of the character that the chunk leaves incomplete; the length of the chunk if there is none. */
const openingAt = (piece: Uint8Array): number => {
  for (let back = 1; back < MAX_BYTES && back <= piece.length; back++) {
    const byte = piece[piece.length - back] ?? 0;
    if (byte >= 0xc0) return lengthOf(byte) > back ? piece.length - back : piece.length;
    if (byte < 0x80) return piece.length;
  }
  return piece.length;
};
