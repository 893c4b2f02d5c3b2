import { detach } from '@berth/kernel';
import type { Notices } from '@berth/persistence';
import { pause } from '@berth/supervision';
import { metrics } from '@berth/telemetry';
import { ChangeWatch } from './change-watch.js';
import { fromNotice, projectionTopic, toNotice, type ProjectionAdvance } from './projection-notice.js';
import type { ProjectionTable } from './projection-table.js';

/** While notices arrive, the row is polled only to discover lost ones, at increasing intervals. */
const POLL_POSITION_MS = 150;
const POLL_STREAMS_MS = 2_000;
const POLL_WITHOUT_NOTICES_MS = 25;

const lateReads = metrics.counter(
  'berth_projection_late_reads',
  'Callers that stopped waiting before the projection contained their write.',
  ['projection'],
);

interface Waiter {
  readonly position: bigint;
  readonly done: (reached: boolean) => void;
}

type Known = ProjectionAdvance['build'];

/**
 * Tracks the serving tables of a projection, in any process, by the notices of the process that writes them. All waiters
 * share one poll of the position, which also discovers lost notices.
 */
export class ProjectionWatch {
  readonly #waiters = new Set<Waiter>();
  readonly #watches = new Map<string, Set<ChangeWatch>>();
  readonly #anyChange = new Set<ChangeWatch>();
  readonly #polling = new Set<'position' | 'streams'>();
  #known: Known | undefined;
  #listening = false;

  constructor(
    private readonly notices: Notices,
    private readonly table: ProjectionTable,
    private readonly version: number,
  ) {}

  /** Resolves to true once `position` is reached; to false after `timeoutMs`, or when another version serves. */
  async reached(position: bigint, timeoutMs: number): Promise<boolean> {
    this.listen();
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
      detach(this.#poll('position', POLL_POSITION_MS, this.#waiters));
    });
  }

  /** Dispose of the watch when the rows of the stream are no longer awaited. */
  watchStream(stream: string): ChangeWatch {
    this.listen();
    const watches = this.#watches.get(stream) ?? new Set();
    this.#watches.set(stream, watches);
    const watch = new ChangeWatch((ended) => {
      watches.delete(ended);
      if (watches.size === 0 && this.#watches.get(stream) === watches) this.#watches.delete(stream);
    });
    watches.add(watch);
    detach(this.#poll('streams', POLL_STREAMS_MS, this.#watches));
    return watch;
  }

  /** A watch of every advance of the serving tables, as far as notices arrive. */
  watchAll(): ChangeWatch {
    this.listen();
    const watch = new ChangeWatch((ended) => this.#anyChange.delete(ended));
    this.#anyChange.add(watch);
    return watch;
  }

  /** Subscribes to the notices. */
  listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.notices.subscribe(projectionTopic(this.table.name), (notice) => {
      if (notice !== null) this.#record(fromNotice(notice));
      else if (this.#waiters.size > 0 || this.#watches.size > 0) detach(this.#readServing());
    });
  }

  /** Records an advance by this process and notifies the others. */
  publish(advance: ProjectionAdvance): void {
    this.#record(advance);
    this.notices.publish(projectionTopic(this.table.name), toNotice(advance));
  }

  /** Records the state of the serving tables; any stream may have changed. */
  noteBuild(build: Known): void {
    this.#record({ build, from: null, streams: null });
  }

  #record({ build, from, streams }: ProjectionAdvance): void {
    const known = this.#known;
    const same = known?.version === build.version && known.build === build.build;
    if (same && (known.position ?? -1n) > (build.position ?? -1n)) return;
    this.#known = build;
    for (const waiter of this.#waiters) {
      if (this.#isAt(waiter.position)) waiter.done(true);
      else if (build.version !== this.version) waiter.done(false);
    }
    if (same && known.position === build.position) return;
    for (const watch of this.#anyChange) watch.notify();
    // A gap before this advance: notices were lost.
    this.#notify(same && known.position === from ? streams : null);
  }

  #notify(streams: readonly string[] | null): void {
    for (const stream of streams ?? this.#watches.keys())
      for (const watch of this.#watches.get(stream) ?? []) watch.notify();
  }

  #isAt(position: bigint): boolean {
    const reached = this.#known?.version === this.version ? this.#known.position : null;
    return reached !== null && reached >= position;
  }

  async #poll(
    what: 'position' | 'streams',
    everyMs: number,
    awaited: { readonly size: number },
  ): Promise<void> {
    if (this.#polling.has(what)) return;
    this.#polling.add(what);
    // The first read also determines from which position on this process knows every advance.
    if (!this.notices.connected || this.#known === undefined) await this.#readServing();
    let pauseMs = everyMs;
    while (awaited.size > 0) {
      const before = this.#known;
      await pause(this.notices.connected ? pauseMs : POLL_WITHOUT_NOTICES_MS);
      const hasAdvanced = this.#known !== before;
      // An idle process has no database connection, and each poll needs one.
      pauseMs = hasAdvanced ? everyMs : Math.min(pauseMs * 2, POLL_STREAMS_MS);
      if (awaited.size > 0 && !hasAdvanced) await this.#readServing();
    }
    this.#polling.delete(what);
  }

  async #readServing(): Promise<void> {
    try {
      await this.table.ensure();
      const serving = await this.table.serving();
      if (serving !== undefined) this.noteBuild(serving);
    } catch {
      // Waiters time out.
    }
  }
}
