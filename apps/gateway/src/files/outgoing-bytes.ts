import type { Writable } from 'node:stream';

/** When this many bytes are in flight, writing waits until fewer than half as many are. */
const MAX_UNSENT_BYTES = 1_048_576;
/** How much of the beginning is buffered, so that it can be sent again to another host or with another epoch. */
const KEPT_BYTES = 262_144;
/** How long writing may wait while the host accepts nothing; then the host counts as failed. */
const SILENCE_MS = 30_000;

/** Bytes on their way to a host. A transfer can restart from the beginning until too much was written. */
export class OutgoingBytes {
  #kept: Uint8Array[] | undefined = [];
  #keptBytes = 0;
  #target: Writable | undefined;
  #unsent = 0;
  #ended = false;
  #dropping = false;
  #room: PromiseWithResolvers<void> | undefined;
  #silence: NodeJS.Timeout | undefined;
  #failure: Error | undefined;

  /** `onSilence` is called when writing waits and the target has accepted nothing for `silenceMs`. */
  constructor(
    private readonly onSilence: () => void,
    private readonly silenceMs = SILENCE_MS,
  ) {}

  /** Prepares to send everything again. Returns false if too much was written. */
  rewind(): boolean {
    if (this.#kept === undefined) return false;
    this.#target = undefined;
    return true;
  }

  /**
   * Takes bytes; a returned promise resolves when more may come. `isLastUse`: nothing uses their underlying buffer
   * afterwards, so its memory is freed as soon as they are sent. Leaving that to the garbage collector would cost more
   * than the rest of a large transfer. Throws or rejects with the error given to `fail`.
   */
  write(bytes: Uint8Array, isLastUse: boolean): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#dropping) return undefined;
    const isKept = this.#keep(bytes);
    if (this.#target === undefined) this.#unsent += bytes.length;
    else this.#send(this.#target, bytes, isLastUse && !isKept);
    return this.#target !== undefined && this.#unsent < MAX_UNSENT_BYTES ? undefined : this.#untilRoom();
  }

  /** Sends to `target` what was written and what is written later. Call it once, and again after each `rewind`. */
  sendTo(target: Writable): void {
    this.#target = target;
    this.#unsent = 0;
    for (const bytes of this.#kept ?? []) this.#send(target, bytes, false);
    if (this.#ended) target.end();
    this.#makeRoom();
  }

  end(): void {
    this.#ended = true;
    this.#target?.end();
  }

  /** From now on accepts bytes and discards them. */
  drop(): void {
    this.#dropping = true;
    this.#kept = undefined;
    this.#makeRoom();
  }

  /** The transfer is over: no more bytes are accepted. */
  fail(error: Error): void {
    this.#failure = error;
    this.#kept = undefined;
    this.#room?.reject(error);
    this.#room = undefined;
    this.#watch();
  }

  #keep(bytes: Uint8Array): boolean {
    if (this.#kept === undefined) return false;
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > KEPT_BYTES && this.#target !== undefined) {
      this.#kept = undefined;
      return false;
    }
    this.#kept.push(bytes);
    return true;
  }

  #send(target: Writable, bytes: Uint8Array, isFree: boolean): void {
    const { length } = bytes;
    this.#unsent += length;
    target.write(bytes, (error) => {
      // After an error the system may still use the memory.
      if (isFree && (error === undefined || error === null)) release(bytes);
      if (target !== this.#target) return;
      this.#unsent -= length;
      if (error === undefined || error === null) this.#silence?.refresh();
      if (this.#unsent < MAX_UNSENT_BYTES / 2) this.#makeRoom();
    });
  }

  #untilRoom(): Promise<void> {
    if (this.#room === undefined) {
      this.#room = Promise.withResolvers<void>();
      // Without a waiting caller, the rejection must not be reported as unhandled.
      this.#room.promise.catch(() => undefined);
      this.#watch();
    }
    return this.#room.promise;
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
    this.#watch();
  }

  /** Without a target (its agent may be waking), waiting is not the fault of a host. */
  #watch(): void {
    clearTimeout(this.#silence);
    const waits = this.#room !== undefined && this.#target !== undefined;
    this.#silence = waits ? setTimeout(this.onSilence, this.silenceMs) : undefined;
  }
}

/** Frees the memory behind `bytes` now. */
const release = ({ buffer }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
};

/**
 * Whether `bytes` fill their whole buffer: true for a chunk of a body, false for a slice of a pool.
 */
export const ownsBuffer = ({ byteLength, buffer }: Uint8Array): boolean => byteLength === buffer.byteLength;
