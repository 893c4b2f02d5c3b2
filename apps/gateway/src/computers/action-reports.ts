import { computersRequests, type ReportActions } from '@berth/contracts/computers';
import { effectOf } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** Reports that wait for the service at the same time. */
const MAX_PENDING = 10_000;

/** Reports what came of batches of actions, for the usage, until `computers` has it. No response waits for it. */
@Injectable()
export class ActionReports implements OnModuleDestroy {
  readonly #pending = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(
    private readonly requester: Requester,
    private readonly log: Logger,
  ) {}

  add(report: ReportActions): void {
    if (this.#pending.size >= MAX_PENDING)
      return this.log.error('too many reports of actions wait to be counted');
    const sent = this.#send(report).finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
  }

  /** Ends the retries, and waits for the reports that are being sent. */
  async onModuleDestroy(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#pending);
  }

  async #send(report: ReportActions): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.requester.request(computersRequests.reportActions, report);
        return;
      } catch (error) {
        const isRefused = effectOf(error) === undefined || effectOf(error) === 'final';
        if (isRefused || this.#ending.signal.aborted)
          return this.log.warn({ err: error, computerId: report.computerId }, 'could not report actions');
        await pause(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (attempt - 1)), this.#ending.signal);
      }
    }
  }
}
