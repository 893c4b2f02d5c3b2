import { Injectable } from '@nestjs/common';
import { OutputVault } from '../output/output-vault.js';
import { AgentEndings } from '../react/agent-endings.js';
import { AcceptedPositions } from '../submission/accepted-positions.js';
import { Rerouting } from '../submission/rerouting.js';

/** Results may be large; small batches keep every statement short. */
const BATCH = 200;

/** Removes expired data. */
@Injectable()
export class Sweep {
  constructor(
    private readonly vault: OutputVault,
    private readonly positions: AcceptedPositions,
    private readonly rerouting: Rerouting,
    private readonly endings: AgentEndings,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.vault.sweep(BATCH)) === BATCH);
    await Promise.all([this.positions.sweep(), this.rerouting.sweep(), this.endings.sweep()]);
  }
}
