import { join } from 'node:path';
import pLimit from 'p-limit';
import { readStored, writeDurably, type StoredContent } from '../durable-file.js';

const LOG_ID: StoredContent<string> = {
  description: "the identity of this host's event log",
  parse: (json) => (typeof json === 'string' ? json : undefined),
};

/**
 * The identity of the event log that contains the agents of this host, stored in its data folder. Without it, a host that is
 * connected to another installation by mistake would get the order to remove all of its agents.
 */
export class HostLog {
  /** The host announces itself to several services at once. */
  readonly #writes = pLimit(1);

  private constructor(
    /** Name of the file that stores it. */
    readonly file: string,
    private kept: string | null,
  ) {}

  /** Throws `ConfigError` if the stored identity cannot be read. */
  static async open(dataDir: string): Promise<HostLog> {
    const file = join(dataDir, 'event-log.json');
    return new HostLog(file, (await readStored(file, LOG_ID)) ?? null);
  }

  /** The log's identity; null before the first announcement. */
  get id(): string | null {
    return this.kept;
  }

  /** Stores the identity; only the first one counts. */
  keep(id: string): Promise<void> {
    return this.#writes(async () => {
      if (this.kept !== null) return;
      await writeDurably(this.file, JSON.stringify(id));
      this.kept = id;
    });
  }
}
