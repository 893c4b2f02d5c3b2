import { Logger } from '@berth/telemetry';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** Work that runs for the lifetime of the service: projections, relays, consumers, timers. */
@Injectable()
export class BackgroundWork implements BeforeApplicationShutdown {
  private readonly ending = new AbortController();
  private readonly tasks: Promise<void>[] = [];

  constructor(private readonly log: Logger) {}

  /** Runs `work` until `stop`; restarts it with a growing back-off when it ends or throws before that. */
  start(name: string, work: (signal: AbortSignal) => Promise<void>): void {
    this.tasks.push(this.keepRunning(name, work));
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Cancels all work and waits until it has ended. */
  async stop(): Promise<void> {
    this.ending.abort();
    await Promise.all(this.tasks);
  }

  private async keepRunning(name: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.ending;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const begun = Date.now();
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) this.log.warn({ work: name, err: error }, 'background work failed, restarting');
      }
      if (Date.now() - begun > 30_000) pauseMs = FIRST_PAUSE_MS;
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }
}

const pause = (millis: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, millis);
    signal.addEventListener('abort', done);
  });
