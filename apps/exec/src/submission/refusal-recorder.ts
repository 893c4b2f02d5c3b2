import { detach } from '@berth/kernel';
import { backoff, pause } from '@berth/supervision';
import { ServiceContext } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable, Inject } from '@nestjs/common';
import { ExecutionRepository, type OwnedExecution } from '../execution/execution.repository.js';
import { AcceptedPositions } from './accepted-positions.js';

/** After this many failed retries, the execution is left to the reconciler, which ends it. */
const RETRIES = 20;

/** Records that an accepted execution certainly never started; from then on its id is not found. */
@Injectable()
export class RefusalRecorder {
  constructor(
    private readonly executions: ExecutionRepository,
    private readonly positions: AcceptedPositions,
    private readonly log: Logger,
    @Inject(ServiceContext) private readonly service: Pick<ServiceContext, 'stopping'>,
  ) {}

  /**
   * Never throws. If the first attempt fails, retries in the background: the caller can report the refusal at once,
   * because the execution has not started, recorded or not.
   */
  async record(owned: OwnedExecution, code: string): Promise<void> {
    try {
      await this.refuse(owned, code);
    } catch {
      detach(this.retry(owned, () => this.refuse(owned, code)));
    }
  }

  /**
   * For a submission whose append failed although the log may contain it: withdraws the execution if `attempt` is the
   * one that the log accepted. Never throws.
   */
  withdraw(owned: OwnedExecution, attempt: string, code: string): Promise<void> {
    return this.retry(owned, async () => {
      await this.recordPosition(owned, await this.executions.withdraw(owned, attempt, code));
    });
  }

  private async retry(owned: OwnedExecution, refuse: () => Promise<void>): Promise<void> {
    for (let attempt = 0; attempt < RETRIES && !this.service.stopping.aborted; attempt++) {
      await pause(backoff(attempt, 500), this.service.stopping);
      try {
        return await refuse();
      } catch (error) {
        this.log.debug({ err: error, executionId: owned.executionId }, 'could not record a refusal yet');
      }
    }
    this.log.warn(
      { executionId: owned.executionId },
      'a refusal is not recorded; the reconciler ends the execution',
    );
  }

  private async refuse(owned: OwnedExecution, code: string): Promise<void> {
    await this.recordPosition(owned, await this.executions.refuse(owned, code));
  }

  /** Makes every list requested from now on wait until it reflects the refusal. */
  private async recordPosition(owned: OwnedExecution, position: bigint | null): Promise<void> {
    if (position !== null) await this.positions.record(owned.agentId, position).catch(() => undefined);
  }
}
