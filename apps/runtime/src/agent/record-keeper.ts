import type { AgentRecord } from './agent-record.js';
import type { AgentSurroundings } from './agent-surroundings.js';

/** What is kept and told of one agent: its record on the disk, its log, and those who decide. */
export class RecordKeeper {
  /** Nothing is told any more of an agent that was removed. */
  removed = false;
  #record: AgentRecord;

  constructor(
    record: AgentRecord,
    private readonly around: Pick<AgentSurroundings, 'records' | 'systemLog' | 'observations'>,
  ) {
    this.#record = record;
  }

  get record(): AgentRecord {
    return this.#record;
  }

  async save(changes: Partial<AgentRecord>): Promise<void> {
    this.#record = { ...this.#record, ...changes };
    await this.around.records.save(this.#record);
  }

  async say(level: 'info' | 'error', message: string): Promise<void> {
    await this.around.systemLog.add(this.#record.agentId, level, message);
  }

  /** Told until it is heard, as long as the agent is at this epoch. */
  report(observation: Parameters<AgentSurroundings['observations']['report']>[2]): void {
    const { agentId, epoch } = this.#record;
    const stillTrue = (): boolean => !this.removed && this.#record.epoch === epoch;
    this.around.observations.report(agentId, epoch, observation, stillTrue);
  }
}
