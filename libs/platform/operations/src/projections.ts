import type { ProjectionView } from '@berth/contracts/operations';
import type { ProjectionRunner, RebuildProgress } from '@berth/event-store';
import { DomainError, isoTime, type Clock } from '@berth/kernel';
import type { Logger } from '@berth/telemetry';
import type { ProjectionRunners } from './projection-runners.js';

interface Rebuild {
  progress: RebuildProgress | null;
  readonly done: Promise<void>;
}

/** Lists and rebuilds the projections of one service. */
export class Projections {
  private readonly ending = new AbortController();
  private readonly running = new Map<string, Rebuild>();
  private readonly last = new Map<string, NonNullable<ProjectionView['lastRebuild']>>();

  constructor(
    private readonly service: string,
    private readonly runners: ProjectionRunners,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  async list(): Promise<readonly ProjectionView[]> {
    return Promise.all(this.runners.entries().map(([name, runner]) => this.view(name, runner)));
  }

  /** Starts a rebuild without waiting for it. Throws not_found `projection_not_found`. */
  async rebuild(name: string): Promise<ProjectionView> {
    const runner = this.runners.get(name);
    if (runner === undefined) {
      throw new DomainError('not_found', 'projection_not_found', `${this.service} has no such projection.`);
    }
    if (!this.running.has(name)) this.begin(name, runner);
    return this.view(name, runner);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Aborts running rebuilds; the tables in use stay as they are. */
  async stop(): Promise<void> {
    this.ending.abort();
    await Promise.all([...this.running.values()].map(({ done }) => done));
  }

  private begin(name: string, runner: ProjectionRunner): void {
    const { signal } = this.ending;
    const note = (progress: RebuildProgress): void => {
      rebuild.progress = progress;
    };
    const run = async (): Promise<void> => {
      try {
        await runner.rebuild(note, signal);
        this.last.set(name, {
          outcome: signal.aborted ? 'failed' : 'completed',
          at: isoTime(this.clock.now()),
        });
      } catch (error) {
        this.log.error({ projection: name, err: error }, 'rebuild failed');
        this.last.set(name, { outcome: 'failed', at: isoTime(this.clock.now()) });
      } finally {
        this.running.delete(name);
      }
    };
    const rebuild: Rebuild = { progress: null, done: Promise.resolve().then(run) };
    this.running.set(name, rebuild);
  }

  private async view(name: string, runner: ProjectionRunner): Promise<ProjectionView> {
    const { version, position, lag } = await runner.status();
    const rebuild = this.running.get(name);
    return {
      name,
      service: this.service,
      version,
      position: position?.toString() ?? null,
      lag,
      rebuilding: rebuild === undefined ? null : toView(rebuild.progress),
      lastRebuild: this.last.get(name) ?? null,
    };
  }
}

const toView = (progress: RebuildProgress | null): ProjectionView['rebuilding'] => {
  if (progress === null) return { applied: 0, total: null, eventsPerSecond: 0, secondsLeft: null };
  const { applied, position, head, eventsPerSecond, secondsLeft } = progress;
  // Positions may count bytes or anything else: only their ratio shows how many events are left.
  const total = position > 0n ? Math.round((applied * Number(head)) / Number(position)) : null;
  return { applied, total, eventsPerSecond, secondsLeft };
};
