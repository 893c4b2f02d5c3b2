import { pause } from '@berth/supervision';
import { ServiceContext } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable, Inject } from '@nestjs/common';
import { LONGEST_WAIT_MS, resultOf, ExecutionHosts } from '../host/execution-host.js';
import { ExecutionRepository, type OwnedExecution } from './execution.repository.js';

/** The reconciler handles executions beyond this number. */
const MAX_FOLLOWED = 200;
const PAUSE_MS = 200;

/** Executions whose end this process waits for, so that it is recorded at once. */
@Injectable()
export class FollowedExecutions {
  readonly #followed = new Set<string>();

  constructor(
    private readonly hosts: ExecutionHosts,
    private readonly executions: ExecutionRepository,
    private readonly log: Logger,
    @Inject(ServiceContext) private readonly service: Pick<ServiceContext, 'stopping'>,
  ) {}

  has(executionId: string): boolean {
    return this.#followed.has(executionId);
  }

  /** Runs `work`, which itself brings the execution to its end; the reconciler skips the execution in the meantime. */
  async during<T>(executionId: string, work: () => Promise<T>): Promise<T> {
    this.#followed.add(executionId);
    try {
      return await work();
    } finally {
      this.#followed.delete(executionId);
    }
  }

  /** Waits for the end in the background and records it. The reconciler takes over if that fails. */
  begin(host: string, owned: OwnedExecution): void {
    if (this.#followed.size >= MAX_FOLLOWED || this.has(owned.executionId)) return;
    this.during(owned.executionId, () => this.#follow(host, owned)).catch((error: unknown) => {
      if (!this.service.stopping.aborted)
        this.log.debug({ err: error, executionId: owned.executionId }, 'stopped following an execution');
    });
  }

  async #follow(host: string, owned: OwnedExecution): Promise<void> {
    while (!this.service.stopping.aborted) {
      const found = await this.hosts.find(host, owned, LONGEST_WAIT_MS);
      if (found.state === 'absent') return;
      const result = resultOf(owned, found.outcome);
      if (result !== null) {
        await this.executions.endInTime(result);
        return;
      }
      await pause(PAUSE_MS, this.service.stopping);
    }
  }
}
