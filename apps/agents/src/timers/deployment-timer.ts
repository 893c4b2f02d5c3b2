import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { DeploymentListQuery } from '../deployment-list/deployment-list.query.js';
import { DeploymentProgress } from '../deployment/deployment-progress.js';
import { BoxWork } from '@berth/boxes';

const TICK_MS = 1_000;
const AT_ONCE = 200;
const SETTLE_MS = 2_000;

/** Continues deployments that no process carries out. */
@Injectable()
@RunOnOneInstance({ name: 'deployments' })
export class DeploymentTimer implements Runnable {
  readonly #work: BoxWork;

  constructor(
    private readonly list: DeploymentListQuery,
    private readonly progress: DeploymentProgress,
    log: Logger,
  ) {
    this.#work = new BoxWork({ atOnce: AT_ONCE, atOnceForHost: AT_ONCE }, log);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        for (const agentId of await this.list.agentsWithWork(this.#work.ids, AT_ONCE))
          this.#work.begin(agentId, null, () => this.progress.drive(agentId));
        await pause(TICK_MS, signal);
      }
    } finally {
      await this.#work.settle(SETTLE_MS);
    }
  }
}
