import { backoff, pause } from '@berth/supervision';
import { ServiceContext } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable, Inject } from '@nestjs/common';
import { ExecutionRepository, type Owned } from '../execution/execution.repository.js';
import { AcceptedPositions } from './accepted-positions.js';

/** After these attempts, the reconciler ends an execution whose refusal is still not recorded. */
const ATTEMPTS = 20;

/** Records the refusal of accepted executions that certainly never started; from then on their ids are not found. */
@Injectable()
export class RefusalRecorder {
  constructor(
    private readonly executions: ExecutionRepository,
    private readonly positions: AcceptedPositions,
    private readonly log: Logger,
    @Inject(ServiceContext) private readonly service: Pick<ServiceContext, 'stopping'>,
  ) {}

  /** Never throws: even while the log is unavailable, nothing has started. Retries in the background. */
  async record(owned: Owned, code: string): Promise<void> {
    try {
      await this.refuse(owned, code);
    } catch {
      void this.later(owned, () => this.refuse(owned, code));
    }
  }

  /** For an attempt whose append failed: withdraws the execution if the log accepted it from this attempt. Never throws. */
  withdraw(owned: Owned, attempt: string, code: string): Promise<void> {
    return this.later(owned, async () => {
      await this.recordPosition(owned, await this.executions.withdraw(owned, attempt, code));
    });
  }

  private async later(owned: Owned, refuse: () => Promise<void>): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS && !this.service.stopping.aborted; attempt++) {
      await pause(backoff(attempt, 500), this.service.stopping);
      try {
        return await refuse();
      } catch (error) {
        this.log.debug({ err: error, executionId: owned.executionId }, 'could not record a refusal yet');
      }
    }
  }

  private async refuse(owned: Owned, code: string): Promise<void> {
    await this.recordPosition(owned, await this.executions.refuse(owned, code));
  }

  /** Makes lists that are requested from now on reflect the refusal. */
  private async recordPosition(owned: Owned, position: bigint | null): Promise<void> {
    if (position !== null) await this.positions.record(owned.agentId, position).catch(() => undefined);
  }
}
