const HEADER_BYTES = 32;
/** The answer to the first bytes of a connection has a short header of its own. */
const GREETING_BYTES = 8;
const REPLY = 1;
const GENERIC_EVENT = 35;

/** Cuts the bytes of an X server into its greeting and then messages: replies, errors and events. */
export class MessageReader {
  #greeted = false;
  #header = Buffer.alloc(GREETING_BYTES);
  #message: Buffer | undefined;
  #filled = 0;

  constructor(private readonly onMessage: (message: Buffer) => void) {}

  /** Takes the first `bytes` of `chunk`, which may be overwritten afterwards. */
  read(chunk: Buffer, bytes: number): void {
    for (let at = 0; at < bytes;) {
      const target = this.#message ?? this.#header;
      const taken = chunk.copy(target, this.#filled, at, bytes);
      at += taken;
      this.#filled += taken;
      if (this.#filled < target.length) return;
      if (this.#message === undefined) this.#begin(target);
      if (this.#message !== undefined && this.#filled === this.#message.length) this.#finish(this.#message);
    }
  }

  #begin(header: Buffer): void {
    this.#message = Buffer.allocUnsafe(header.length + this.#remaining(header));
    header.copy(this.#message);
  }

  #remaining(header: Buffer): number {
    if (!this.#greeted) return header.readUInt16LE(6) * 4;
    const kind = (header[0] ?? 0) & 0x7f;
    return kind === REPLY || kind === GENERIC_EVENT ? header.readUInt32LE(4) * 4 : 0;
  }

  #finish(message: Buffer): void {
    this.#message = undefined;
    this.#filled = 0;
    if (!this.#greeted) {
      this.#greeted = true;
      this.#header = Buffer.alloc(HEADER_BYTES);
    }
    this.onMessage(message);
  }
}
