import { DomainError, isDomainError } from '@berth/kernel';
import { AdvisoryLock, NO_NOTICES, type Database, type Notices } from '@berth/persistence';
import { pause } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';
import pRetry, { type Options, type RetryContext } from 'p-retry';
import { waitUntilCaughtUp } from './catch-up-wait.js';
import type { ChangeWatch } from './change-watch.js';
import { PositionBeyondLog, type EventStore } from './event-store.js';
import type { Projection, ProjectionStatus, RebuildProgress } from './projection.js';
import { follow, ProjectionBuilder, type ProjectionParts } from './projection-builder.js';
import { countAfter } from './projection-lag.js';
import { CheckpointMoved, ProjectionTable, type Build } from './projection-table.js';
import { ProjectionWatch } from './projection-watch.js';
import { ProjectionWriter } from './projection-writer.js';

/** A rebuild that an operator requested waits out every outage. */
const OUTAGES: Options = {
  retries: Infinity,
  minTimeout: 100,
  maxTimeout: 2_000,
  shouldRetry: ({ error }) => isDomainError(error, 'unavailable') || error instanceof CheckpointMoved,
};

/** How often an older version checks whether it should lead again. */
const STAND_ASIDE_MS = 5_000;

/**
 * Keeps the tables of one projection up to date with the log. Any number of processes may run it: one of them leads (by
 * an advisory lock), and the checkpoint fences its writes. A newer version is first built next to the serving one.
 */
export class ProjectionRunner {
  readonly #parts: ProjectionParts;
  readonly #builder: ProjectionBuilder;
  readonly #watch: ProjectionWatch;
  readonly #gatherMs: number;

  /**
   * `gatherMs`: how long live writing waits for further events to join a batch; for projections with few waiters.
   * `notices`: among the processes of the service, so that waiters in other processes need not poll the tables.
   */
  constructor(options: {
    readonly store: EventStore;
    readonly database: Database;
    readonly projection: Projection;
    readonly log: Logger;
    readonly gatherMs?: number;
    readonly notices?: Notices;
  }) {
    this.#gatherMs = options.gatherMs ?? 0;
    const table = new ProjectionTable(options.database, options.projection.name);
    this.#parts = { ...options, table };
    this.#builder = new ProjectionBuilder(this.#parts);
    this.#watch = new ProjectionWatch(options.notices ?? NO_NOTICES, table, options.projection.version);
  }

  /**
   * Leads whenever no other process does, until `signal` aborts. Throws what `apply` throws, and when the lock, the log
   * or the database is lost; call it again then.
   */
  async run(signal: AbortSignal): Promise<void> {
    this.#watch.listen();
    while (!signal.aborted) {
      await AdvisoryLock.hold(this.#parts.database, this.#lockName('projection'), signal, (held) =>
        this.#lead(held),
      );
      // A newer version serves.
      await pause(STAND_ASIDE_MS, signal);
    }
  }

  /**
   * Resolves once the tables serve and contain everything that the log held when the call began, whichever process
   * writes them; the service may then report ready. Logs its progress, waits out outages, and throws only the reason of
   * `signal`. Some process must `run` this projection in the meantime.
   */
  async untilCaughtUp(signal: AbortSignal = new AbortController().signal): Promise<void> {
    using changes = this.#watch.watchAll();
    await waitUntilCaughtUp({ ...this.#parts, changes }, signal);
  }

  /**
   * Read your writes, in any process: resolves to true as soon as the serving tables contain everything up to
   * `position`, and to false after `timeoutMs` or when the serving tables have another version and do not advance.
   */
  waitFor(position: bigint, timeoutMs = 2_000): Promise<boolean> {
    return this.#watch.reached(position, timeoutMs);
  }

  /**
   * Watches the rows of one stream, in any process: begin the watch, read, and read again after a change. While nothing
   * changes, all watches together read only the position from the tables.
   */
  watchStream(stream: string): ChangeWatch {
    return this.#watch.watchStream(stream);
  }

  /**
   * Builds the tables again from the whole log next to the serving ones, which stay live, and then switches. Each call
   * starts from the beginning of the log and waits out outages. Throws what `apply` throws, or `DomainError('conflict',
   * …)` when a newer version serves; returns early when `signal` aborts. In all three cases the serving tables stay as
   * they were.
   */
  async rebuild(onProgress: (progress: RebuildProgress) => void, signal: AbortSignal): Promise<void> {
    let mine: Build | undefined;
    const build = async (held: AbortSignal): Promise<void> => {
      const { table, projection } = this.#parts;
      await table.ensure();
      const serving = await table.serving();
      if ((serving?.version ?? 0) > projection.version) throw newerServes(projection.name);
      const begun = mine;
      const current = (await table.builds()).find(
        (b) => b.suffix === begun?.suffix && b.state === 'building',
      );
      mine = current ?? (await this.#builder.createNew());
      await this.#builder.complete(mine, onProgress, held);
    };
    try {
      await pRetry(() => this.#underBuildLock(signal, build), {
        ...OUTAGES,
        signal,
        onFailedAttempt: (failed) => this.#report(failed),
      });
    } catch (error) {
      await this.#tidy();
      if (!signal.aborted) throw error;
    }
  }

  /** Throws `DomainError('unavailable', …)` when the log or the database is down. */
  async status(): Promise<ProjectionStatus> {
    const { table, store, projection } = this.#parts;
    await table.ensure();
    const builds = await table.builds();
    const serving = builds.find(({ state }) => state === 'serving');
    const position = serving?.position ?? null;
    return {
      name: projection.name,
      version: serving?.version ?? 0,
      position,
      lag: await countAfter(store, projection.categories, position),
      rebuilding: builds.some(({ state }) => state === 'building'),
    };
  }

  async #lead(held: AbortSignal): Promise<void> {
    await this.#parts.table.ensure();
    await this.#tidy();
    while (!held.aborted) {
      const serving = await this.#prepare(held);
      if (serving === undefined) return;
      try {
        await this.#keepLive(serving, held);
      } catch (error) {
        if (!(error instanceof PositionBeyondLog)) throw error;
        await this.#startOver(error, held);
      }
    }
  }

  /** The serving tables were built from another log, or from this one before it was restored. */
  async #startOver({ position, head }: PositionBeyondLog, held: AbortSignal): Promise<void> {
    const { projection, log } = this.#parts;
    log.error(
      { projection: projection.name, position: String(position), head: String(head) },
      'the tables are ahead of the event log and belong to another one; building them again',
    );
    await this.#underBuildLock(held, async (lock) => {
      const built = await this.#builder.complete(await this.#builder.createNew(), () => undefined, lock);
      if (built !== null) this.#watch.noteBuild(built);
    });
  }

  /** The build to keep live; undefined when a newer version serves. */
  async #prepare(held: AbortSignal): Promise<Build | undefined> {
    const { table, projection, log } = this.#parts;
    const serving = (await table.serving()) ?? (await this.#builder.createFirst());
    if (serving.version > projection.version) {
      log.warn(
        { projection: projection.name, serving: serving.version },
        'a newer version serves; not leading',
      );
      return undefined;
    }
    return serving.version === projection.version ? serving : this.#upgrade(held);
  }

  async #upgrade(held: AbortSignal): Promise<Build | undefined> {
    const { projection, log } = this.#parts;
    log.info(
      { projection: projection.name, version: projection.version },
      'building a new version of the tables',
    );
    const built = await this.#underBuildLock(held, async (lock) => {
      const serving = await this.#parts.table.serving();
      // A rebuild in another process may have switched already.
      if (serving !== undefined && serving.version >= projection.version) return serving;
      return this.#builder.complete(await this.#builder.resumeOrCreate(), () => undefined, lock);
    });
    return built ?? undefined;
  }

  async #keepLive(serving: Build, held: AbortSignal): Promise<void> {
    const { database, table, projection, log } = this.#parts;
    const writer = new ProjectionWriter(database, table, projection, serving);
    this.#watch.noteBuild(serving);
    const stop = new AbortController();
    try {
      const over = AbortSignal.any([held, stop.signal]);
      for await (const batch of follow(this.#parts, serving.position, over, this.#gatherMs)) {
        const from = writer.position;
        await writer.write(batch);
        if (writer.position === from) continue;
        const streams = [...new Set(batch.events.map(({ stream }) => stream))];
        this.#watch.publish({ build: writer.build, from, streams });
      }
    } catch (error) {
      if (!(error instanceof CheckpointMoved)) throw error;
      log.info(
        { projection: projection.name },
        'other tables serve now, or another leader has written; starting over',
      );
    } finally {
      stop.abort();
    }
  }

  #report({ error, attemptNumber, retryDelay }: RetryContext): void {
    const { projection, log } = this.#parts;
    if (attemptNumber === 1 && retryDelay > 0)
      log.warn({ err: error, projection: projection.name }, 'the rebuild has to wait for an outage to end');
  }

  #underBuildLock<T>(signal: AbortSignal, work: (held: AbortSignal) => Promise<T>): Promise<T | undefined> {
    return AdvisoryLock.hold(this.#parts.database, this.#lockName('projection-build'), signal, work, {
      brief: true,
    });
  }

  /** Drops leftover tables. A failure only wastes disk space. */
  async #tidy(): Promise<void> {
    const { table, projection, log } = this.#parts;
    try {
      const serving = await table.serving();
      // An unfinished build of our own, newer version will be resumed.
      if (serving === undefined || serving.version < projection.version) return;
      await this.#builder.tidy(this.#lockName('projection-build'));
    } catch (error) {
      log.warn({ err: error, projection: projection.name }, 'old tables were not dropped');
    }
  }

  #lockName(what: string): string {
    return `${what}:${this.#parts.database.schema}.${this.#parts.projection.name}`;
  }
}

const newerServes = (name: string): DomainError =>
  new DomainError(
    'conflict',
    'newer_version_serves',
    `A newer version of ${name} serves. Use the newer release.`,
  );
