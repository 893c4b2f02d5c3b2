import { lockKey, type Database, type SqlRunner } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { batchesOf, type EventBatch } from './event-batches.js';
import type { EventStore } from './event-store.js';
import { ProgressMeter } from './progress-meter.js';
import type { Projection, RebuildProgress } from './projection.js';
import { type Build, type ProjectionTable } from './projection-table.js';
import { ProjectionWriter } from './projection-writer.js';

/** Maximum number of events in one transaction. */
export const BATCH_SIZE = 2_000;

/** The dependencies shared by runner and builder. */
export interface ProjectionParts {
  readonly store: EventStore;
  readonly database: Database;
  readonly projection: Projection;
  readonly table: ProjectionTable;
  readonly log: Logger;
}

/** The batches of a projection's categories after `from`. */
export const follow = (
  { store, projection }: ProjectionParts,
  from: bigint | null,
  signal: AbortSignal,
  gatherMs = 0,
): AsyncGenerator<EventBatch, void, undefined> =>
  batchesOf(
    store.subscribe({ from: from ?? 'start', categories: projection.categories, signal }),
    BATCH_SIZE,
    gatherMs,
  );

/** Builds tables next to the serving ones and replaces them. Hold the build lock while using it. */
export class ProjectionBuilder {
  constructor(private readonly parts: ProjectionParts) {}

  /** Creates the first tables of the projection: they serve immediately, while they fill. */
  async createFirst(): Promise<Build> {
    const { database, projection, table } = this.parts;
    return database.transaction(async (tx) => {
      const build = await table.insert(tx, projection.version, 0, 'serving');
      await projection.dropTables(tx, build.suffix);
      await projection.createTables(tx, build.suffix);
      await projection.publish(tx, build.suffix);
      return build;
    });
  }

  /** Resumes an unfinished build of this version unless it was built from another log; drops all other builds. */
  async resumeOrCreate(): Promise<Build> {
    const builds = await this.parts.table.builds();
    const head = (await this.parts.store.head()) ?? -1n;
    const unfinished = builds.find(
      ({ state, version, position }) =>
        state === 'building' && version === this.parts.projection.version && (position ?? -1n) <= head,
    );
    await this.#dropAll(builds.filter((build) => build.state !== 'serving' && build !== unfinished));
    return unfinished ?? this.#create();
  }

  /** Drops every unfinished build and starts a new one. */
  async createNew(): Promise<Build> {
    await this.dropLeftovers();
    return this.#create();
  }

  /** Drops what a killed build left behind, unless a process holds the build lock of that name. */
  async tidy(buildLock: string): Promise<void> {
    const { database, table } = this.parts;
    await database.transaction(async (tx) => {
      const [lock] = await tx.query<{ free: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS free', [
        lockKey(buildLock),
      ]);
      if (lock?.free !== true) return;
      const builds = await table.builds(tx);
      for (const build of builds.filter(({ state }) => state !== 'serving')) await this.#drop(tx, build);
    });
  }

  /** Drops all builds that do not serve. */
  async dropLeftovers(): Promise<void> {
    const builds = await this.parts.table.builds();
    await this.#dropAll(builds.filter(({ state }) => state !== 'serving'));
  }

  /** Catches up and switches. Returns the build as it serves then, or null if `signal` aborted first. */
  async complete(
    build: Build,
    onProgress: (progress: RebuildProgress) => void,
    signal: AbortSignal,
  ): Promise<Build | null> {
    const { database, table, projection } = this.parts;
    const writer = new ProjectionWriter(database, table, projection, build);
    const caughtUp = await this.#catchUp(writer, onProgress, signal);
    return caughtUp ? this.#switchTo(writer, signal) : null;
  }

  async #create(): Promise<Build> {
    const { database, projection, table } = this.parts;
    return database.transaction(async (tx) => {
      const builds = await table.builds(tx);
      const last = Math.max(
        -1,
        ...builds.filter((b) => b.version === projection.version).map(({ build }) => build),
      );
      const build = await table.insert(tx, projection.version, last + 1, 'building');
      await projection.dropTables(tx, build.suffix);
      await projection.createTables(tx, build.suffix);
      return build;
    });
  }

  async #dropAll(builds: readonly Build[]): Promise<void> {
    for (const build of builds) await this.parts.database.transaction((tx) => this.#drop(tx, build));
  }

  async #drop(tx: SqlRunner, build: Build): Promise<void> {
    await this.parts.projection.dropTables(tx, build.suffix);
    await this.parts.table.remove(tx, build);
  }

  async #catchUp(
    writer: ProjectionWriter,
    onProgress: (progress: RebuildProgress) => void,
    signal: AbortSignal,
  ): Promise<boolean> {
    const stop = new AbortController();
    const meter = new ProgressMeter(writer, (await this.parts.store.head()) ?? 0n);
    try {
      for await (const batch of follow(this.parts, writer.position, AbortSignal.any([signal, stop.signal]))) {
        await writer.write(batch);
        onProgress(meter.read());
        if (batch.caughtUp) return true;
      }
      return false;
    } finally {
      stop.abort();
    }
  }

  /** In one transaction: locks the serving tables, applies the events that only they contain, and moves the views. */
  async #switchTo(writer: ProjectionWriter, signal: AbortSignal): Promise<Build | null> {
    const { database, table, projection, log } = this.parts;
    const served = await database.transaction(
      async (tx) => {
        const old = await table.lockServing(tx);
        if (!(await this.#applyRest(tx, writer, signal))) return undefined;
        if (old !== undefined) await table.setState(tx, old, 'retired');
        await table.setState(tx, writer.build, 'serving');
        const serving: Build = { ...writer.build, state: 'serving' };
        await projection.publish(tx, serving.suffix);
        return serving;
      },
      { statementTimeoutMs: 30_000 },
    );
    if (served === undefined) return null;
    log.info({ projection: projection.name, tables: served.suffix }, 'projection switched to new tables');
    // A reader may still hold a lock on the old tables; those are dropped at the next start.
    await this.dropLeftovers().catch((error: unknown) =>
      log.warn({ err: error }, 'could not drop old tables, will retry at the next start'),
    );
    return (await table.serving()) ?? served;
  }

  /** A new subscription reports `caughtUp` only after every event that the locked serving tables contain. */
  async #applyRest(tx: SqlRunner, writer: ProjectionWriter, signal: AbortSignal): Promise<boolean> {
    const stop = new AbortController();
    try {
      for await (const batch of follow(this.parts, writer.position, AbortSignal.any([signal, stop.signal]))) {
        await writer.writeWithin(tx, batch);
        if (batch.caughtUp) return true;
      }
      return false;
    } finally {
      stop.abort();
    }
  }
}
