import { backoff, pause } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';

const FIRST_PAUSE_MS = 200;
/** Work that ran for so long begins again with the first pause. */
const STEADY_MS = 30_000;

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
    for (let attempt = 0; !signal.aborted; attempt++) {
      const begun = Date.now();
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) this.log.warn({ work: name, err: error }, 'background work failed, restarting');
      }
      if (Date.now() - begun > STEADY_MS) attempt = 0;
      await pause(backoff(attempt, FIRST_PAUSE_MS), signal);
    }
  }
}
