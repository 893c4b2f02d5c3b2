import { detach } from '@berth/kernel';
import type { XConnection } from '../x11/x-connection.js';
import { packRequest, u32 } from '../x11/x-packing.js';

const PROPERTY_NOTIFY = 28;
const SELECTION_NOTIFY = 31;
const NEW_VALUE = 0;
/** How long the owner may take for its answer and for each further piece of it. */
const PIECE_MS = 3_000;
/** The longest property that is read, in units of four bytes. */
const LONGEST = 0x1000000;

export interface SelectionAtoms {
  readonly incremental: number;
  /** Where the owner puts what it hands out. */
  readonly property: number;
}

/** What the owner of a selection hands out after `ConvertSelection`, whole or in pieces. */
export class IncomingSelection {
  /** What `received` is rejected with when the owner does not respond. */
  static readonly late = new Error('The owner of the selection does not respond.');
  readonly #received = Promise.withResolvers<Buffer | undefined>();
  readonly #forget: readonly (() => void)[];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #begun = false;
  #inPieces = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: XConnection,
    private readonly window: number,
    private readonly atoms: SelectionAtoms,
    /** More bytes than these are not waited for. */
    private readonly enoughBytes: number,
  ) {
    this.#forget = [
      connection.onEvent(SELECTION_NOTIFY, (event) => this.#begin(event)),
      connection.onEvent(PROPERTY_NOTIFY, (event) => this.#goOn(event)),
      connection.onLoss((reason) => this.#received.reject(reason)),
    ];
    this.#await();
  }

  /** Undefined if the owner has nothing of that kind. */
  get received(): Promise<Buffer | undefined> {
    return this.#received.promise;
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const forget of this.#forget) forget();
  }

  #begin(event: Buffer): void {
    // An owner that was waited for in vain may still answer: for another property.
    const property = event.readUInt32LE(20);
    if (event.readUInt32LE(8) !== this.window || ![0, this.atoms.property].includes(property)) return;
    if (property === 0) this.#received.resolve(undefined);
    else {
      this.#begun = true;
      detach(this.#takeProperty());
    }
  }

  #goOn(event: Buffer): void {
    const isOurs = event.readUInt32LE(4) === this.window && event.readUInt32LE(8) === this.atoms.property;
    if (this.#begun && isOurs && event[16] === NEW_VALUE) detach(this.#takeProperty());
  }

  async #takeProperty(): Promise<void> {
    try {
      const any = 0;
      // Removing the property asks the owner for the next piece.
      const remove = 1;
      const reply = await this.connection.ask(
        packRequest(20, remove, u32(this.window, this.atoms.property, any, 0, LONGEST)),
      );
      const value = reply.subarray(32, 32 + (reply.readUInt32LE(16) * (reply[1] ?? 0)) / 8);
      this.#await();
      if (reply.readUInt32LE(8) === this.atoms.incremental) {
        this.#inPieces = true;
        return;
      }
      this.#pieces.push(value);
      this.#bytes += value.length;
      const isWhole = !this.#inPieces || value.length === 0 || this.#bytes > this.enoughBytes;
      if (isWhole) this.#received.resolve(Buffer.concat(this.#pieces));
    } catch (error) {
      this.#received.reject(error as Error);
    }
  }

  #await(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#received.reject(IncomingSelection.late), PIECE_MS);
  }
}
