import { type Database } from '@berth/persistence';
import { pause } from '@berth/supervision';
import { metrics } from '@berth/telemetry';
import { positionChannel, type Build, type ProjectionTable } from './projection-table.js';

/** While notifications arrive, the row is polled only in case one was lost. */
const POLL_LISTENING_MS = 150;
const POLL_DEAF_MS = 25;

const lateReads = metrics.counter(
  'berth_projection_late_reads',
  'Callers that stopped waiting before the projection contained their write.',
  ['projection'],
);

interface Waiter {
  readonly position: bigint;
  readonly done: (reached: boolean) => void;
}

/** Tracks the position of a projection's serving tables, in any process; all waiters share one poll. */
export class PositionWatch {
  readonly #waiters = new Set<Waiter>();
  #known: Build | undefined;
  #listening = false;
  #polling = false;

  constructor(
    private readonly database: Database,
    private readonly table: ProjectionTable,
    private readonly version: number,
  ) {}

  /** Resolves to true once `position` is reached; to false after `timeoutMs`, or when another version serves. */
  async reached(position: bigint, timeoutMs: number): Promise<boolean> {
    this.#listen();
    if (this.#isAt(position)) return true;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        position,
        done: (reached) => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          resolve(reached);
        },
      };
      const timer = setTimeout(() => {
        lateReads.inc({ projection: this.table.name });
        waiter.done(false);
      }, timeoutMs);
      this.#waiters.add(waiter);
      if (!this.#polling) void this.#poll();
    });
  }

  /** Records the position that this process has just written or read. */
  note(build: Build): void {
    const known = this.#known;
    const same = known?.version === build.version && known.build === build.build;
    if (same && (known.position ?? -1n) > (build.position ?? -1n)) return;
    this.#known = build;
    for (const waiter of this.#waiters) {
      if (this.#isAt(waiter.position)) waiter.done(true);
      else if (build.version !== this.version) waiter.done(false);
    }
  }

  #isAt(position: bigint): boolean {
    const reached = this.#known?.version === this.version ? this.#known.position : null;
    return reached !== null && reached >= position;
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.database.listen(positionChannel(this.database.schema), (notice) => this.#heard(notice));
  }

  #heard(notice: string | null): void {
    if (notice === null) {
      // Notifications may have been missed.
      if (this.#waiters.size > 0) void this.#look();
      return;
    }
    const [name, version, build, position] = notice.split(' ');
    if (name !== this.table.name || version === undefined || build === undefined || position === undefined)
      return;
    this.note({
      version: Number(version),
      build: Number(build),
      suffix: '',
      position: BigInt(position),
      state: 'serving',
    });
  }

  async #poll(): Promise<void> {
    this.#polling = true;
    if (!this.database.listening) await this.#look();
    while (this.#waiters.size > 0) {
      await pause(this.database.listening ? POLL_LISTENING_MS : POLL_DEAF_MS);
      if (this.#waiters.size > 0) await this.#look();
    }
    this.#polling = false;
  }

  async #look(): Promise<void> {
    try {
      await this.table.ensure();
      const serving = await this.table.serving();
      if (serving !== undefined) this.note(serving);
    } catch {
      // Waiters time out.
    }
  }
}
