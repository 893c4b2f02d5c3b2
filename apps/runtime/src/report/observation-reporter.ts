import { setTimeout as delay } from 'node:timers/promises';
import { agentsRequests, type ReportObservation } from '@berth/contracts/agents';
import { Requester } from '@berth/messaging';
import { HostIdentity } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Observations } from '../agent/hosted-agent-deps.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Reports observations to `agents` until they are acknowledged. */
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
    stillTrue: () => boolean,
  ): void {
    void this.#tell({ host: this.host.id, agentId, epoch, observation }, stillTrue);
  }

  /** Sends one attempt per agent, in parallel, within that time, because the host is shutting down. */
  async lastWords(
    ended: readonly { readonly agentId: string; readonly epoch: number }[],
    withinMs: number,
  ): Promise<void> {
    const observation = { type: 'asleep', depth: 'cold', reason: 'host_shutdown' } as const;
    await Promise.allSettled(
      ended.map(({ agentId, epoch }) =>
        this.requester.request(
          agentsRequests.reportObservation,
          { host: this.host.id, agentId, epoch, observation },
          { deadlineMs: withinMs },
        ),
      ),
    );
  }

  beforeApplicationShutdown(): void {
    this.#stopping.abort();
  }

  async #tell(report: ReportObservation, stillTrue: () => boolean): Promise<void> {
    const { signal } = this.#stopping;
    for (
      let pauseMs = FIRST_PAUSE_MS;
      stillTrue() && !signal.aborted;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      try {
        await this.requester.request(agentsRequests.reportObservation, report);
        return;
      } catch (error) {
        if (!signal.aborted)
          this.log.warn({ agentId: report.agentId, err: error }, 'an observation is not acknowledged yet');
      }
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
