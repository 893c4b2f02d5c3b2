import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@berth/kernel';
import type { ProgramState, PutProgram } from '@berth/guest-protocol';
import type { LogWriter } from '../log/log-writer.js';
import { DeathCount } from './death-count.js';
import type { Life, LifeSource } from './workload.js';

/** Where a supervisor reports what happens to its workload. */
export interface SupervisorReports {
  readonly log: LogWriter;
  /** Called when the workload keeps crashing and the supervisor gives up. */
  readonly onCrashLoop: (message: string) => void;
  /** Called when the workload was killed, not by the supervisor. */
  readonly onKilled: (message: string) => void;
}

/** Runs one workload: starts it, restarts it when it crashes, and gives up if it keeps crashing. */
export class Supervisor<Served> {
  #state: ProgramState = 'starting';
  #served: Served | undefined;
  #life: Life<Served> | undefined;
  #graceMs = 0;
  readonly #stopping = new AbortController();
  readonly #firstServed = Promise.withResolvers<void>();
  #settled = Promise.withResolvers<void>();
  readonly #over: Promise<void>;

  constructor(
    private readonly source: LifeSource<Served>,
    private readonly limits: Pick<PutProgram, 'restart' | 'readyWithinMs'>,
    private readonly reports: SupervisorReports,
  ) {
    this.#firstServed.promise.catch(() => undefined);
    this.#over = this.#keepAlive();
  }

  get state(): ProgramState {
    return this.#state;
  }

  /** What it currently serves with. */
  get served(): Served | undefined {
    return this.#served;
  }

  /** Resolves once the workload is ready for the first time. Errors: upstream `agent_start_failed`. */
  async ready(): Promise<void> {
    const expired = new AbortController();
    const { name, readiness } = this.source;
    const { readyWithinMs } = this.limits;
    const late = delay(readyWithinMs, undefined, { signal: expired.signal }).then(() => {
      throw startFailed(`${name} did not ${readiness.does} within ${seconds(readyWithinMs)}.`);
    });
    late.catch(() => undefined);
    try {
      await Promise.race([this.#firstServed.promise, late]);
    } finally {
      expired.abort();
    }
  }

  /** Like `served`, but waits up to `withinMs` for a workload that is starting. */
  async whenServing(withinMs: number): Promise<Served | undefined> {
    const deadline = performance.now() + withinMs;
    while (this.#served === undefined && (this.#state === 'starting' || this.#state === 'restarting')) {
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      await Promise.race([this.#settled.promise, delay(left)]);
    }
    return this.#served;
  }

  /** Ends it permanently. */
  async stop(graceMs: number): Promise<void> {
    this.#enter('stopped');
    this.#graceMs = graceMs;
    this.#stopping.abort();
    await this.#life?.end(graceMs);
    await this.#over;
  }

  async #keepAlive(): Promise<void> {
    const deaths = new DeathCount(this.limits.restart);
    while (!this.#stopping.signal.aborted) {
      const how = await this.#liveOnce(deaths).catch(
        (error: unknown) => `could not be started (${errorCode(error)})`,
      );
      if (this.#stopping.signal.aborted) break;
      this.reports.log.add('system', 'error', `${this.source.name} ${how}.`);
      const next = deaths.died(performance.now());
      if (next.giveUp) return this.#giveUp(how);
      await delay(next.backoffMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
    this.#firstServed.reject(startFailed(`${this.source.name} was stopped before it was ready.`));
  }

  /** Runs it once, to its end, and returns how it ended. */
  async #liveOnce(deaths: DeathCount): Promise<string> {
    const life = await this.source.begin(this.#stopping.signal);
    this.#life = life;
    const gone = new AbortController();
    const exited = life.exited.then(() => {
      gone.abort();
      if (this.#state === 'serving') this.#enter('restarting');
    });
    const late = AbortSignal.timeout(this.limits.readyWithinMs);
    const stopping = this.#stopping.signal;
    const served = await life.serving(AbortSignal.any([gone.signal, late, stopping]));
    if (served !== undefined && !gone.signal.aborted && !stopping.aborted) {
      deaths.served();
      this.#enter('serving', served);
      this.#firstServed.resolve();
    } else if (!gone.signal.aborted) {
      await life.end(this.#graceMs);
    }
    await exited;
    const how = await life.ended;
    if (life.wasKilled) this.reports.onKilled(`${this.source.name} ${how}.`);
    return how;
  }

  async #giveUp(how: string): Promise<void> {
    const neverServed = this.#state === 'starting';
    this.#enter('crash_loop');
    const { name, readiness } = this.source;
    const message = neverServed
      ? `${name} ended repeatedly before it ${readiness.did}; the last time it ${how}.`
      : `${name} keeps crashing; the last time it ${how}.`;
    this.reports.log.add('system', 'error', message);
    this.#firstServed.reject(startFailed(message));
    // A caller that learns of the crash ends this guest.
    await this.reports.log.flush();
    if (!neverServed) this.reports.onCrashLoop(message);
  }

  #enter(state: ProgramState, served?: Served): void {
    if (this.#state === 'stopped') return;
    this.#state = state;
    this.#served = served;
    this.#settled.resolve();
    this.#settled = Promise.withResolvers<void>();
  }
}

const startFailed = (message: string): DomainError =>
  new DomainError('upstream', 'agent_start_failed', message);

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`;
