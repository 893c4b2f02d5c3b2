/** Bytes that arrive in pieces, read by their number. */
export class ByteReader {
  #pieces: Buffer[] = [];
  #length = 0;
  #wanted: (() => void) | undefined;
  #failure: Error | undefined;

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#wanted?.();
  }

  /** Number of bytes that nobody has read. */
  get unread(): number {
    return this.#length;
  }

  /** From now on nothing more arrives. */
  fail(reason: Error): void {
    this.#failure ??= reason;
    this.#wanted?.();
  }

  /** Not to be called again before it has resolved. */
  async read(length: number): Promise<Buffer> {
    while (this.#length < length) {
      if (this.#failure !== undefined) throw this.#failure;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wanted = resolve;
      await promise;
    }
    const all = this.rest();
    if (all.length > length) this.push(all.subarray(length));
    return all.subarray(0, length);
  }

  /** What has arrived and was not read. */
  rest(): Buffer {
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return all;
  }
}
