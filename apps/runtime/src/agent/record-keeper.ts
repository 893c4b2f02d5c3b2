import { isDomainError } from '@berth/kernel';
import { NO_BOX, type AgentRecord } from './agent-record.js';
import type { HostedAgentDeps } from './hosted-agent-deps.js';

/** An agent's record on disk, its log, and its reports to `agents`. */
export class RecordKeeper {
  /** Set on removal: nothing is reported from then on. */
  removed = false;
  #record: AgentRecord;

  constructor(
    record: AgentRecord,
    private readonly deps: Pick<HostedAgentDeps, 'records' | 'systemLog' | 'observations' | 'log'>,
  ) {
    this.#record = record;
  }

  get record(): AgentRecord {
    return this.#record;
  }

  async save(changes: Partial<AgentRecord>): Promise<void> {
    this.#record = { ...this.#record, ...changes };
    await this.deps.records.save(this.#record);
  }

  /**
   * Removes a box that has ended from the record. Succeeds although it cannot be stored, which must not hide why the box
   * ended: a host that finds the box in the record finds none of its processes.
   */
  async forgetEndedBox(): Promise<void> {
    await this.save(NO_BOX).catch((error: unknown) => {
      this.deps.log.warn(
        { agentId: this.#record.agentId, err: error },
        'could not store the record of an agent',
      );
    });
  }

  async log(level: 'info' | 'error', message: string): Promise<void> {
    await this.deps.systemLog.add(this.#record.agentId, level, message);
  }

  /** Logs a failed start: the whole error for the operator; for the owner, only the message of a `DomainError`. */
  async logFailedStart(error: unknown): Promise<void> {
    this.deps.log.warn({ agentId: this.#record.agentId, err: error }, 'could not start an agent');
    await this.log('error', isDomainError(error) ? error.message : 'The start failed.');
  }

  /** Repeats the report until it is acknowledged, while the agent is at this epoch. */
  report(observation: Parameters<HostedAgentDeps['observations']['report']>[2]): void {
    const { agentId, epoch } = this.#record;
    const isCurrent = (): boolean => !this.removed && this.#record.epoch === epoch;
    this.deps.observations.report(agentId, epoch, observation, isCurrent);
  }
}
