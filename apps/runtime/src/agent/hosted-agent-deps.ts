import type { ReportObservation } from '@berth/contracts/hosting';
import type { Logger } from '@berth/telemetry';
import type { Driver } from '../driver/driver.js';
import type { GuestClient } from '../guest/guest-client.js';
import type { SystemLog } from '../logs/system-log.js';
import type { ActivityView } from './activity.js';
import type { AgentRecords } from './agent-record.js';
import type { AgentStarter } from './agent-starter.js';

/** Reports what happened to a box to the service that it belongs to. */
export interface Observations {
  /** Repeats the report until it is acknowledged or `isCurrent` returns false. */
  report(
    agentId: string,
    epoch: number,
    observation: ReportObservation['observation'],
    isCurrent: () => boolean,
  ): void;
}

export interface Activities {
  note(agentId: string, view: ActivityView): void;
}

export interface PollsOfSchedules {
  /** Polls the program until `signal` aborts. Never throws. */
  follow(agentId: string, guest: GuestClient, signal: AbortSignal): Promise<void>;
}

/** Dependencies of an agent on this host. */
export interface HostedAgentDeps {
  readonly driver: Driver;
  readonly starter: AgentStarter;
  readonly records: AgentRecords;
  readonly systemLog: SystemLog;
  readonly observations: Observations;
  readonly activities: Activities;
  readonly polls: PollsOfSchedules;
  readonly log: Logger;
}
