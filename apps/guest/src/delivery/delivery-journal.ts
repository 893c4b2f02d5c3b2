import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { decodeDelivery, type DeliveryOutcome, type DeliveryRecord } from '@berth/guest-protocol';

/**
 * Limits of the journal. Beyond `responseChars` it drops the oldest responses but remembers that their messages were
 * handed over.
 */
export interface JournalBounds {
  readonly entries: number;
  readonly keepMs: number;
  readonly responseChars: number;
  readonly fileBytes: number;
}

const DEFAULT_BOUNDS: JournalBounds = {
  entries: 200_000,
  keepMs: 48 * 3_600_000,
  responseChars: 8 * 1024 * 1024,
  fileBytes: 128 * 1024 * 1024,
};

interface Entry {
  readonly at: number;
  readonly outcome: DeliveryOutcome | undefined;
}

/**
 * Records which messages were handed to the agent's program, and their outcomes. It outlives the guest and is outside
 * the volume.
 */
export class DeliveryJournal {
  readonly #entries = new Map<string, Entry>();
  #responseChars = 0;
  /** The size of the file, which ends with a whole record. */
  #bytes = 0;
  #writes: Promise<void> = Promise.resolve();

  private constructor(
    private readonly path: string,
    private readonly bounds: JournalBounds,
    private file: FileHandle,
  ) {}

  static async open(path: string, bounds: JournalBounds = DEFAULT_BOUNDS): Promise<DeliveryJournal> {
    const journal = new DeliveryJournal(path, bounds, await open(path, 'a', 0o600));
    if ((await journal.file.stat()).size > 0) await journal.#read();
    return journal;
  }

  /** Undefined if the message was never handed over; otherwise its outcome, if known and still kept. */
  find(id: string): { readonly outcome: DeliveryOutcome | undefined } | undefined {
    return this.#entries.get(id);
  }

  /** Records that a message is about to be handed over; resolves once the record is on disk. */
  async handed(id: string): Promise<void> {
    await this.#write({ id, at: Date.now(), step: 'handed' }, true);
  }

  /** Reverts `handed`: the program was not reachable. */
  async released(id: string): Promise<void> {
    await this.#write({ id, at: Date.now(), step: 'released' }, false);
  }

  async ended(id: string, outcome: DeliveryOutcome): Promise<void> {
    await this.#write({ id, at: Date.now(), step: 'ended', outcome }, false);
  }

  async #read(): Promise<void> {
    const lines = createInterface({ input: createReadStream(this.path), crlfDelay: Infinity });
    for await (const line of lines) {
      const record = decodeDelivery(line);
      if (record !== undefined) this.#apply(record);
    }
    await this.#rewrite().catch((error: unknown) => this.#endLastLine(error));
  }

  async close(): Promise<void> {
    await this.#writes.catch(() => undefined);
    await this.file.close();
  }

  #write(record: DeliveryRecord, durable: boolean): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    const written = this.#writes
      .catch(() => undefined)
      .then(async () => {
        await this.#append(line, durable);
        this.#apply(record);
        this.#bytes += line.length;
        // A file that is too long can be shortened later.
        if (this.#bytes > this.bounds.fileBytes) await this.#rewrite().catch(() => undefined);
      });
    this.#writes = written;
    return written;
  }

  /** Leaves nothing of a line that does not fit on the disk: the next one would continue it, and be lost. */
  async #append(line: Buffer, durable: boolean): Promise<void> {
    try {
      await this.file.appendFile(line);
      if (durable) await this.file.datasync();
    } catch (error) {
      await this.file.truncate(this.#bytes);
      throw error;
    }
  }

  /** For a file that could not be replaced: cuts off what follows its last whole line. */
  async #endLastLine(error: unknown): Promise<void> {
    if (!isOutOfSpace(error)) throw error;
    const content = await readFile(this.path);
    this.#bytes = content.lastIndexOf('\n') + 1;
    await this.file.truncate(this.#bytes);
  }

  #apply({ id, at, step, outcome }: DeliveryRecord): void {
    this.#forget(id);
    if (step === 'released') return;
    this.#entries.set(id, { at, outcome });
    this.#responseChars += size(outcome);
    this.#keepBounds(at);
  }

  #keepBounds(now: number): void {
    for (const [id, { at }] of this.#entries) {
      if (this.#entries.size <= this.bounds.entries && now - at <= this.bounds.keepMs) break;
      this.#forget(id);
    }
    if (this.#responseChars <= this.bounds.responseChars) return;
    for (const [id, entry] of this.#entries) {
      if (this.#responseChars <= this.bounds.responseChars / 2) break;
      this.#responseChars -= size(entry.outcome);
      // Setting an existing key keeps its position in the order.
      this.#entries.set(id, { at: entry.at, outcome: undefined });
    }
  }

  #forget(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#responseChars -= size(entry.outcome);
    this.#entries.delete(id);
  }

  async #rewrite(): Promise<void> {
    const next = `${this.path}.next`;
    await rm(next, { force: true });
    const file = await open(next, 'a', 0o600);
    try {
      const bytes = await this.#writeAll(file);
      await file.datasync();
      await rename(next, this.path);
      this.#bytes = bytes;
    } catch (error) {
      await file.close();
      await rm(next, { force: true });
      throw error;
    }
    await this.file.close();
    this.file = file;
  }

  async #writeAll(file: FileHandle): Promise<number> {
    let bytes = 0;
    for (const [id, { at, outcome }] of this.#entries) {
      const record: DeliveryRecord = outcome
        ? { id, at, step: 'ended', outcome }
        : { id, at, step: 'handed' };
      const line = Buffer.from(`${JSON.stringify(record)}\n`);
      await file.appendFile(line);
      bytes += line.length;
    }
    return bytes;
  }
}

const isOutOfSpace = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

const size = (outcome: DeliveryOutcome | undefined): number =>
  outcome?.type === 'answered' ? outcome.response.length : (outcome?.message.length ?? 0);
