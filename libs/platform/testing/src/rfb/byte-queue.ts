/** Bytes in the order of their arrival. One reader at a time. */
export class ByteQueue {
  #chunks: Buffer[] = [];
  #length = 0;
  #hasEnded = false;
  #notify: (() => void) | undefined;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#notify?.();
  }

  end(): void {
    this.#hasEnded = true;
    this.#notify?.();
  }

  /** Throws if fewer bytes come. */
  async read(count: number): Promise<Buffer> {
    while (this.#length < count) {
      if (this.#hasEnded) throw new Error('The connection has ended.');
      await new Promise<void>((resolve) => (this.#notify = resolve));
    }
    const all = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const bytes = all ?? Buffer.concat(this.#chunks);
    const left = bytes.subarray(count);
    this.#chunks = left.length === 0 ? [] : [left];
    this.#length = left.length;
    return bytes.subarray(0, count);
  }
}
