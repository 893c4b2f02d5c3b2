import { setTimeout as delay } from 'node:timers/promises';
import { detach } from '@berth/kernel';
import type { ReportObservation } from '@berth/contracts/hosting';
import { Requester } from '@berth/messaging';
import { HostIdentity } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Observations } from '../agent/hosted-agent-deps.js';
import { reportRequestsOf } from './report-requests.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Reports observations to the service of their box until they are acknowledged. */
@Injectable()
export class ObservationReporter implements Observations, BeforeApplicationShutdown {
  readonly #stopping = new AbortController();

  constructor(
    private readonly host: HostIdentity,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly log: Logger,
  ) {}

  report(
    agentId: string,
    epoch: number,
    observation: ReportObservation['observation'],
    isCurrent: () => boolean,
  ): void {
    detach(this.#send({ host: this.host.id, agentId, epoch, observation }, isCurrent));
  }

  /** Reports the boxes that ended with the host: one attempt per box, in parallel, within `withinMs`. */
  async reportShutdown(
    ended: readonly { readonly agentId: string; readonly epoch: number }[],
    withinMs: number,
  ): Promise<void> {
    const observation = { type: 'asleep', depth: 'cold', reason: 'host_shutdown' } as const;
    await Promise.allSettled(
      ended.map(({ agentId, epoch }) =>
        this.requester.request(
          reportRequestsOf(agentId).reportObservation,
          { host: this.host.id, agentId, epoch, observation },
          { host: this.host.id, deadlineMs: withinMs },
        ),
      ),
    );
  }

  beforeApplicationShutdown(): void {
    this.#stopping.abort();
  }

  async #send(report: ReportObservation, isCurrent: () => boolean): Promise<void> {
    const { signal } = this.#stopping;
    const { reportObservation } = reportRequestsOf(report.agentId);
    for (
      let pauseMs = FIRST_PAUSE_MS;
      isCurrent() && !signal.aborted;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      try {
        await this.requester.request(reportObservation, report, { host: report.host });
        return;
      } catch (error) {
        if (!signal.aborted)
          this.log.warn({ agentId: report.agentId, err: error }, 'could not report an observation yet');
      }
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
