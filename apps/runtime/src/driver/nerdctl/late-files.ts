import { pause } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';

const LOOK_EVERY_MS = 2_000;
/** A hook of a container whose shim was killed ends within a second, also on a busy host. */
const LOOKS = 3;

/**
 * Removes what is written for a container after its removal: if its shim has died, a hook of nerdctl may run beside
 * `nerdctl rm`, and creates the container's folder again.
 */
export class LateFiles {
  /** Removed containers, and how often to look for files of each again. */
  readonly #looks = new Map<string, number>();

  /** `removeFiles` removes the files of these containers, and does nothing for one without files. */
  constructor(
    private readonly removeFiles: (containers: readonly string[]) => Promise<void>,
    private readonly log: Logger,
    private readonly lookEveryMs = LOOK_EVERY_MS,
  ) {}

  removed(containers: readonly string[]): void {
    for (const container of containers) this.#looks.set(container, LOOKS);
  }

  /** Until the signal aborts. Does not throw. */
  async keepUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.lookEveryMs, signal);
      if (!signal.aborted && this.#looks.size > 0) await this.#look();
    }
  }

  async #look(): Promise<void> {
    const due = [...this.#looks];
    for (const [container, looks] of due) {
      if (looks > 1) this.#looks.set(container, looks - 1);
      else this.#looks.delete(container);
    }
    try {
      await this.removeFiles(due.map(([container]) => container));
    } catch (error) {
      // What the last look leaves, the next start of the runtime removes.
      this.log.warn({ err: error }, 'files of removed containers could not be removed');
    }
  }
}
