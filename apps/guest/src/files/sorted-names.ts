import { isUtf8 } from 'node:buffer';
import { opendirSync } from 'node:fs';
import type { Descriptor } from './descriptor.js';
import { codeOf } from './file-refusals.js';
import { mergeRuns, RUN_LENGTH } from './merge-runs.js';
import { Slices } from './slices.js';

/** How much memory the names of a batch may take. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** What a name takes beside its characters. */
const BYTES_PER_NAME = 40;
const READ_AT_ONCE = 1_024;
/** Number of entries between two checks of the clock. */
const CHECK_EVERY = 64;
/** Separates the two parts of a key; no name contains it, and it sorts before all that a name can contain. */
const SEPARATOR = '\0';

/** A name as it is sorted and shown; `bytes` are those of the entry if they are not UTF-8. */
export interface FolderName {
  readonly name: string;
  readonly bytes?: Buffer;
}

/**
 * The names of a folder in the order of their code points, in batches of limited size however large the folder is. Each
 * batch takes a pass over the folder, which selects the smallest names after the last one; most folders need one.
 */
export class SortedNames {
  /** The last key of the previous batch. */
  #after: string | undefined;
  #isComplete = false;

  constructor(
    private readonly folder: Descriptor,
    private readonly batchBytes = BATCH_BYTES,
  ) {}

  /** Whether there are no more batches. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The next batch. Yields to other work regularly. Throws the reason of `signal`. */
  async next(signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await this.#pass(signal, 'latin1');
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      // Where a folder does not contain the types of its entries, Node looks for each by its name, decoded.
      return this.#pass(signal, 'buffer' as BufferEncoding);
    }
  }

  /** Names as `latin1` take half the time of those as `buffer`. */
  async #pass(signal: AbortSignal, encoding: BufferEncoding): Promise<readonly string[]> {
    const selection = new Selection(this.batchBytes, this.#after);
    const dir = opendirSync(this.folder.path, { encoding, bufferSize: READ_AT_ONCE });
    try {
      for (let count = 1, entry = dir.readSync(); entry !== null; count++, entry = dir.readSync()) {
        selection.add(toKey(bytesOf(entry.name)));
        if (selection.isFull) await selection.cut();
        if (count % CHECK_EVERY !== 0) continue;
        signal.throwIfAborted();
        await selection.slices.restIfOver();
      }
    } finally {
      dir.closeSync();
    }
    const keys = await selection.cut();
    this.#isComplete = !selection.hasDropped;
    this.#after = keys.at(-1);
    return keys;
  }
}

/** The smallest keys after `after` among those added. Takes up to twice the memory of the result. */
class Selection {
  readonly slices = new Slices();
  #runs: (readonly string[])[] = [];
  #run: string[] = [];
  #bytes = 0;
  /** Keys from this one on are not among the smallest. */
  #limit: string | undefined;

  constructor(
    private readonly maxBytes: number,
    private readonly after: string | undefined,
  ) {}

  get isFull(): boolean {
    return this.#bytes > 2 * this.maxBytes;
  }

  get hasDropped(): boolean {
    return this.#limit !== undefined;
  }

  add(key: string): void {
    if (this.after !== undefined && key <= this.after) return;
    if (this.#limit !== undefined && key >= this.#limit) return;
    this.#run.push(key);
    this.#bytes += key.length + BYTES_PER_NAME;
    if (this.#run.length === RUN_LENGTH) this.#endRun();
  }

  /** Drops what exceeds the limit; returns the rest, sorted. */
  async cut(): Promise<readonly string[]> {
    this.#endRun();
    const sorted = await mergeRuns(this.#runs, this.slices);
    let [kept, bytes] = [0, 0];
    for (; kept < sorted.length; kept++) {
      const next = bytes + (sorted[kept]?.length ?? 0) + BYTES_PER_NAME;
      if (next > this.maxBytes && kept > 0) break;
      bytes = next;
    }
    if (kept < sorted.length) this.#limit = sorted[kept];
    const smallest = sorted.slice(0, kept);
    this.#runs = [smallest];
    this.#bytes = bytes;
    return smallest;
  }

  #endRun(): void {
    this.#runs.push(this.#run.sort());
    this.#run = [];
  }
}

/** One character for each byte. With the encoding `buffer`, names are bytes, despite the types. */
const bytesOf = (name: string | Buffer): string =>
  typeof name === 'string' ? name : name.toString('latin1');

const NOT_ASCII = /[\x80-\xff]/;

/**
 * Sorts like the code points, and takes no more memory than the bytes. A name that is not UTF-8 sorts as it is shown, and its
 * own bytes follow.
 */
const toKey = (bytes: string): string => {
  const name = NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1') : undefined;
  if (name === undefined || isUtf8(name)) return bytes;
  return `${Buffer.from(name.toString()).toString('latin1')}${SEPARATOR}${bytes}`;
};

/** The name of a key of a batch. */
export const fromKey = (key: string): FolderName => {
  const end = key.indexOf(SEPARATOR);
  if (end === -1) return { name: decoded(key) };
  return { name: decoded(key.slice(0, end)), bytes: Buffer.from(key.slice(end + 1), 'latin1') };
};

const decoded = (bytes: string): string =>
  NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
