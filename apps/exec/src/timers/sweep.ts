import { Injectable } from '@nestjs/common';
import { OutputVault } from '../output/output-vault.js';
import { AgentEndings } from '../react/agent-endings.js';
import { AcceptedPositions } from '../submission/accepted-positions.js';
import { ReroutedExecutions } from '../submission/rerouted-executions.js';

/** Results may be large; small batches keep every statement short. */
const BATCH = 200;

/** Removes expired data. */
@Injectable()
export class Sweep {
  constructor(
    private readonly vault: OutputVault,
    private readonly positions: AcceptedPositions,
    private readonly rerouted: ReroutedExecutions,
    private readonly endings: AgentEndings,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.vault.sweep(BATCH)) === BATCH);
    await Promise.all([this.positions.sweep(), this.rerouted.sweep(), this.endings.sweep()]);
  }
}
