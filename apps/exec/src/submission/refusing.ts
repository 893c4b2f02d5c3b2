import { backoff, pause } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import type { ExecutionStreams, Owned } from '../execution/execution-streams.js';
import type { AcceptedPositions } from './accepted-positions.js';

/** After that the reconciler ends what is left. */
const ATTEMPTS = 20;

/** Takes back what was accepted and certainly never started: its id is unknown from then on. */
export class Refusing {
  constructor(
    private readonly executions: ExecutionStreams,
    private readonly positions: AcceptedPositions,
    private readonly log: Logger,
    private readonly stopping: AbortSignal,
  ) {}

  /** Never throws: the caller is told that nothing started, and that stays true while the log is away. */
  async now(owned: Owned, code: string): Promise<void> {
    try {
      await this.refuse(owned, code);
    } catch {
      void this.later(owned, code);
    }
  }

  /** Never throws. */
  async later(owned: Owned, code: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS && !this.stopping.aborted; attempt++) {
      await pause(backoff(attempt, 500), this.stopping);
      try {
        return await this.refuse(owned, code);
      } catch (error) {
        this.log.debug({ err: error, executionId: owned.executionId }, 'a refusal is not recorded yet');
      }
    }
  }

  /** Lists that are asked for from now on know it too. */
  private async refuse(owned: Owned, code: string): Promise<void> {
    const position = await this.executions.refuse(owned, code);
    if (position !== null) await this.positions.note(owned.agentId, position).catch(() => undefined);
  }
}
