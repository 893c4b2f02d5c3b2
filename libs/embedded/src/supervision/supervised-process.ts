import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { detach } from '@berth/kernel';
import { BoundedLog } from './bounded-log.js';
import { dieWithParent, type RunAs } from './die-with-parent.js';
import type { EmbeddedLog } from './embedded-log.js';
import { endProcess, forgetPid, recordPid, type EndingStep } from './orphans.js';
import { identifyProcess } from './process-identity.js';

/** What to run, and how to detect that it is ready. Times in milliseconds. */
export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly runAs?: RunAs;
  readonly logFile: string;
  readonly pidFile: string;
  /** How to end it; SIGKILL follows automatically. The first signal is also the one it gets when this process dies. */
  readonly ending: readonly [EndingStep, ...EndingStep[]];
  /** Runs before each spawn, e.g. to clean up after a killed predecessor. */
  readonly prepare?: () => Promise<void> | void;
  /** Resolves once the process responds; called for each spawn, aborted when the process ends or times out. */
  readonly ready: (child: ChildProcess, signal: AbortSignal) => Promise<void>;
  /** Resolves, with the reason, once only a restart helps; called whenever it is ready, aborted when the process ends. */
  readonly stuck?: (signal: AbortSignal) => Promise<string>;
}

const READY_WITHIN_MS = 60_000;
const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 2000;
const STEADY_AFTER_MS = 10_000;

/** A child process that is restarted whenever it ends without having been stopped. */
export class SupervisedProcess {
  readonly #log: EmbeddedLog;
  readonly #file: BoundedLog;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #restarting: Promise<void> | undefined;
  #backoffMs = FIRST_BACKOFF_MS;
  readonly #stopping = new AbortController();

  constructor(
    readonly spec: ProcessSpec,
    log: EmbeddedLog,
  ) {
    this.#log = log;
    this.#file = new BoundedLog(spec.logFile);
  }

  /** The process id; undefined while it is down. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Spawns the process, and resolves when it is ready. On failure no process is left behind. */
  async start(): Promise<void> {
    try {
      await this.#spawnUntilReady();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#watch();
  }

  /** Sends a signal to the process; false when it is down. Unless `stop` was called, it is restarted. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): boolean {
    return this.#child?.kill(signal) ?? false;
  }

  /** Ends the process and does not restart it. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    await this.#restarting?.catch(() => undefined);
    await this.#end();
    forgetPid(this.spec.pidFile);
    this.#file.close();
  }

  async #end(): Promise<void> {
    const identity = this.#child?.pid === undefined ? undefined : identifyProcess(this.#child.pid);
    if (identity) await endProcess(identity, this.spec.ending);
    await this.#exited;
  }

  #watch(): void {
    const since = performance.now();
    const ended = new AbortController();
    this.#killWhenStuck(ended.signal);
    const restart = (): void => {
      ended.abort();
      if (this.#stopping.signal.aborted) return;
      this.#log.warn({ part: this.spec.name }, 'an embedded part ended unexpectedly, restarting it');
      if (performance.now() - since > STEADY_AFTER_MS) this.#backoffMs = FIRST_BACKOFF_MS;
      this.#restarting = this.#restart();
      detach(this.#restarting);
    };
    detach(this.#exited.then(restart));
  }

  #killWhenStuck(ended: AbortSignal): void {
    const { name, stuck } = this.spec;
    stuck?.(ended).then(
      (reason) => {
        this.#log.error({ part: name, reason }, 'an embedded part is stuck, ending it');
        this.kill('SIGKILL');
      },
      (error: unknown) => {
        if (!ended.aborted)
          this.#log.error({ part: name, err: error }, 'an embedded part is no longer watched');
      },
    );
  }

  async #restart(): Promise<void> {
    for (;;) {
      await delay(this.#backoffMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      this.#backoffMs = Math.min(this.#backoffMs * 2, LONGEST_BACKOFF_MS);
      if (this.#stopping.signal.aborted) return;
      try {
        await this.#spawnUntilReady();
        this.#log.info({ part: this.spec.name, pid: this.pid }, 'an embedded part is running again');
        this.#watch();
        return;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#log.error({ part: this.spec.name, err: error }, 'an embedded part did not restart, retrying');
      }
    }
  }

  async #spawnUntilReady(): Promise<void> {
    await this.spec.prepare?.();
    this.#stopping.signal.throwIfAborted();
    const child = this.#spawn();
    const ended = new AbortController();
    const exited = this.#exited.then(() => ended.abort(new Error('it ended before it was ready')));
    const timeout = AbortSignal.timeout(READY_WITHIN_MS);
    try {
      await untilAborted(AbortSignal.any([ended.signal, this.#stopping.signal, timeout]), (signal) =>
        this.spec.ready(child, signal),
      );
      // Nothing reads its output from here on; unread output would block the child once the pipe is full.
      child.stdout?.resume();
    } catch (error) {
      await this.#end();
      await exited;
      throw new Error(
        `${this.spec.name} did not start: ${reason(error)}. Its log ends with:\n${this.#file.tail()}`,
        { cause: error },
      );
    }
  }

  #spawn(): ChildProcess {
    const { spec } = this;
    const launch = dieWithParent(spec.command, spec.args, spec.ending[0].signal, spec.runAs);
    const child = spawn(launch.command, launch.args, {
      cwd: spec.cwd,
      env: spec.env,
      ...launch.runAs,
      // A session of its own, so that Ctrl-C in a terminal reaches this process only, which ends the parts in order.
      detached: true,
      stdio: ['pipe', 'pipe', this.#file.fd],
    });
    child.stdin?.on('error', () => undefined);
    this.#exited = new Promise((resolve) => {
      const gone = (): void => {
        if (this.#child === child) this.#child = undefined;
        resolve();
      };
      child.once('exit', gone);
      child.once('error', gone);
    });
    this.#child = child;
    if (child.pid !== undefined) this.#record(child.pid);
    return child;
  }

  /** A process that cannot be recorded, because the disk is full, works nevertheless, and ends with this one. */
  #record(pid: number): void {
    try {
      recordPid(this.spec.pidFile, pid);
    } catch (error) {
      this.#log.warn({ part: this.spec.name, err: error }, 'the process id of a part could not be stored');
    }
  }
}

function reason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no response within ${READY_WITHIN_MS / 1000} s`;
  return error instanceof Error ? error.message : String(error);
}

async function untilAborted(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([work(signal), promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
