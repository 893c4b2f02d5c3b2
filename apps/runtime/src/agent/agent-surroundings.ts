import type { ReportObservation } from '@berth/contracts-agents';
import type { Logger } from '@berth/telemetry';
import type { Driver } from '../driver/driver.js';
import type { SystemLog } from '../logs/system-log.js';
import type { ActivityView } from './activity.js';
import type { AgentRecords } from './agent-record.js';
import type { AgentStarter } from './agent-starter.js';

/** Takes what happened to an agent to those who decide. */
export interface Observations {
  /** Told until it is acknowledged, as long as `stillTrue`. */
  report(
    agentId: string,
    epoch: number,
    observation: ReportObservation['observation'],
    stillTrue: () => boolean,
  ): void;
}

export interface Activities {
  note(agentId: string, view: ActivityView): void;
}

/** What an agent on this host works with. */
export interface AgentSurroundings {
  readonly driver: Driver;
  readonly starter: AgentStarter;
  readonly records: AgentRecords;
  readonly systemLog: SystemLog;
  readonly observations: Observations;
  readonly activities: Activities;
  readonly log: Logger;
}
