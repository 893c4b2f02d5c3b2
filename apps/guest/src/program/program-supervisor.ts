import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@berth/kernel';
import type { ProgramState, PutProgram } from '@berth/guest-protocol';
import type { LogWriter } from '../log/log-writer.js';
import type { OutputPipes } from '../output/output-pipes.js';
import { DeathCount } from './death-count.js';
import { programEnv } from './program-env.js';
import { ProgramProcess } from './program-process.js';
import { waitUntilServing, type Endpoint } from './readiness.js';
import { reservePort, type ReservedPort } from './reserve-port.js';

type Runnable = PutProgram & { readonly command: readonly [string, ...string[]] };

/** Dependencies of a supervised program. */
export interface SupervisorDependencies {
  readonly log: LogWriter;
  readonly pipes: OutputPipes;
  readonly apiPort: number;
  /** Inherited by every process of the agent. */
  readonly mark: Readonly<Record<string, string>>;
  /** Called when the program keeps crashing and the supervisor gives up. */
  readonly onCrashLoop: (message: string) => void;
  /** Called when the program was killed, not by the supervisor. */
  readonly onKilled: (message: string) => void;
}

/** Runs one program: starts it, restarts it when it crashes, and gives up if it keeps crashing. */
export class ProgramSupervisor {
  #state: ProgramState = 'starting';
  #endpoint: Endpoint | undefined;
  #process: ProgramProcess | undefined;
  readonly #stopping = new AbortController();
  readonly #firstServed = Promise.withResolvers<void>();
  #settled = Promise.withResolvers<void>();
  readonly #over: Promise<void>;

  constructor(
    private readonly program: Runnable,
    private readonly environment: SupervisorDependencies,
  ) {
    this.#firstServed.promise.catch(() => undefined);
    this.#over = this.#keepAlive();
  }

  get state(): ProgramState {
    return this.#state;
  }

  /** The port on which it currently serves. */
  get port(): number | undefined {
    return this.#endpoint?.port;
  }

  /** Resolves once the program is ready for the first time. Errors: upstream `agent_start_failed`. */
  async ready(): Promise<void> {
    const expired = new AbortController();
    const { readyWithinMs } = this.program;
    const late = delay(readyWithinMs, undefined, { signal: expired.signal }).then(() => {
      throw startFailed(
        `The agent's program did not respond to HTTP on $PORT within ${seconds(readyWithinMs)}.`,
      );
    });
    late.catch(() => undefined);
    try {
      await Promise.race([this.#firstServed.promise, late]);
    } finally {
      expired.abort();
    }
  }

  /** The endpoint; waits up to `withinMs` for a program that is starting. Undefined if it does not become ready. */
  async endpoint(withinMs: number): Promise<Endpoint | undefined> {
    const deadline = performance.now() + withinMs;
    while (this.#endpoint === undefined && (this.#state === 'starting' || this.#state === 'restarting')) {
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      await Promise.race([this.#settled.promise, delay(left)]);
    }
    return this.#endpoint;
  }

  /** Ends it permanently. */
  async stop(graceMs: number): Promise<void> {
    this.#enter('stopped');
    this.#stopping.abort();
    await this.#process?.end(graceMs);
    await this.#over;
  }

  async #keepAlive(): Promise<void> {
    const deaths = new DeathCount(this.program.restart);
    while (!this.#stopping.signal.aborted) {
      const how = await this.#liveOnce(deaths).catch(
        (error: unknown) => `could not be started (${errorCode(error)})`,
      );
      if (this.#stopping.signal.aborted) break;
      this.environment.log.add('system', 'error', `The agent's program ${how}.`);
      const next = deaths.died(performance.now());
      if (next.giveUp) return this.#giveUp(how);
      await delay(next.backoffMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
    this.#firstServed.reject(startFailed("The agent's program was stopped before it was ready."));
  }

  /** Runs it once, to its end, and returns how it ended. */
  async #liveOnce(deaths: DeathCount): Promise<string> {
    const { pipes } = this.environment;
    while (pipes.isShort) await pipes.refill();
    const reserved = await reservePort();
    try {
      return await this.#liveOn(reserved, deaths);
    } finally {
      reserved.release();
    }
  }

  async #liveOn({ port, release }: ReservedPort, deaths: DeathCount): Promise<string> {
    const { log, pipes } = this.environment;
    if (this.#stopping.signal.aborted) return 'was not started';
    const env = programEnv(
      this.program,
      { program: port, api: this.environment.apiPort },
      this.environment.mark,
    );
    const process = new ProgramProcess(this.program, env, log, pipes);
    this.#process = process;
    const gone = new AbortController();
    const exited = process.exited.then(() => {
      gone.abort();
      if (this.#state === 'serving') this.#enter('restarting');
    });
    const late = AbortSignal.timeout(this.program.readyWithinMs);
    const endpoint = await waitUntilServing(port, AbortSignal.any([gone.signal, late])).catch(
      () => undefined,
    );
    release();
    if (endpoint !== undefined && !gone.signal.aborted && !this.#stopping.signal.aborted) {
      deaths.served();
      this.#enter('serving', endpoint);
      this.#firstServed.resolve();
    } else if (!gone.signal.aborted && !this.#stopping.signal.aborted) {
      await process.end(0);
    }
    await exited;
    const how = await process.ended;
    if (process.wasKilled) this.environment.onKilled(`The agent's program ${how}.`);
    return how;
  }

  async #giveUp(how: string): Promise<void> {
    const neverServed = this.#state === 'starting';
    this.#enter('crash_loop');
    const message = neverServed
      ? `The agent's program ended repeatedly before it responded to HTTP on $PORT; the last time it ${how}.`
      : `The agent's program keeps crashing; the last time it ${how}.`;
    this.environment.log.add('system', 'error', message);
    this.#firstServed.reject(startFailed(message));
    // A caller that learns of the crash ends this guest.
    await this.environment.log.flush();
    if (!neverServed) this.environment.onCrashLoop(message);
  }

  #enter(state: ProgramState, endpoint?: Endpoint): void {
    if (this.#state === 'stopped') return;
    this.#state = state;
    this.#endpoint = endpoint;
    this.#settled.resolve();
    this.#settled = Promise.withResolvers<void>();
  }
}

const startFailed = (message: string): DomainError =>
  new DomainError('upstream', 'agent_start_failed', message);

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`;
