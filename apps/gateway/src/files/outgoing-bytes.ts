import { Readable } from 'node:stream';

/** What waits at most to be sent. Larger chunks of work cost fewer turns of the loop than small ones. */
const WAITING_BYTES = 524_288;
/** So much of the beginning is kept, so that a host that refuses at once can be asked again. */
const KEPT_BYTES = 262_144;

/** Bytes on their way to a host, as a stream that can be begun anew while little was written. */
export class OutgoingBytes {
  #kept: Uint8Array[] | undefined = [];
  #keptBytes = 0;
  #stream: Readable | undefined;
  #ended = false;
  #room: PromiseWithResolvers<void> | undefined;
  #failure: unknown;
  #dropping = false;

  /** Whether a stream can be begun (again). */
  get repeatable(): boolean {
    return this.#kept !== undefined;
  }

  /** Takes bytes; a promise says when more may come. Throws or rejects with what `fail` was told. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#dropping) return undefined;
    this.#keep(bytes);
    return this.#stream?.push(bytes) === true ? undefined : this.#untilRoom();
  }

  end(): void {
    this.#ended = true;
    this.#stream?.push(null);
  }

  /** A stream of all that was and will be written. Only while `repeatable`. */
  begin(): Readable {
    const stream = new Readable({ highWaterMark: WAITING_BYTES, read: () => this.#makeRoom() });
    // Whoever sends it hears of it; nobody else has to.
    stream.on('error', () => undefined);
    for (const bytes of this.#kept ?? []) stream.push(bytes);
    if (this.#ended) stream.push(null);
    this.#stream = stream;
    return stream;
  }

  /** Takes the bytes still, and sends none of them. */
  drop(): void {
    this.#dropping = true;
    this.#kept = undefined;
    this.#stream?.destroy();
    this.#makeRoom();
  }

  /** Nobody takes the bytes any more. */
  fail(error: unknown): void {
    this.#failure = error;
    this.#kept = undefined;
    this.#stream?.destroy();
    this.#room?.reject(error);
    this.#room = undefined;
  }

  #keep(bytes: Uint8Array): void {
    if (this.#kept === undefined) return;
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > KEPT_BYTES && this.#stream !== undefined) this.#kept = undefined;
    else this.#kept.push(bytes);
  }

  #untilRoom(): Promise<void> {
    if (this.#room === undefined) {
      this.#room = Promise.withResolvers();
      // Who is not waiting need not hear that there never will be room.
      this.#room.promise.catch(() => undefined);
    }
    return this.#room.promise;
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
