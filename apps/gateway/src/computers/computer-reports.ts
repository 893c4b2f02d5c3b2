import type { ComputerRef } from '@berth/contracts/computers';
import { effectOf, type RequestDefinition } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** How long a stop of the gateway may take for them: in one process, the service stops with it. */
const LAST_MS = 2_000;
/** Reports that wait for the service at the same time. */
const MAX_PENDING = 10_000;

/** Tells `computers` what came of its decisions, until it has heard it. No response waits for it. */
@Injectable()
export class ComputerReports implements OnModuleDestroy {
  readonly #pending = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(
    private readonly requester: Requester,
    private readonly log: Logger,
  ) {}

  add<Report extends ComputerRef>(definition: RequestDefinition<Report, unknown>, report: Report): void {
    if (this.#pending.size >= MAX_PENDING)
      return this.log.error('too many reports wait for the service computers');
    const sent = this.#send(definition, report).finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
  }

  /** Ends the retries, and waits a moment for the reports that are being sent. */
  async onModuleDestroy(): Promise<void> {
    this.#ending.abort();
    await Promise.race([Promise.all(this.#pending), pause(LAST_MS)]);
  }

  async #send<Report extends ComputerRef>(
    definition: RequestDefinition<Report, unknown>,
    report: Report,
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.requester.request(definition, report);
        return;
      } catch (error) {
        const isRefused = effectOf(error) === undefined || effectOf(error) === 'final';
        if (isRefused || this.#ending.signal.aborted)
          return this.log.warn(
            { err: error, computerId: report.computerId },
            'could not report to the service computers',
          );
        await pause(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (attempt - 1)), this.#ending.signal);
      }
    }
  }
}
