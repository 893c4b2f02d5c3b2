import type { ActivityKind } from './activity-kind.js';
import type { HostFigures } from './host-figures.js';
import type { ObservedAgent, WantedIdleTime } from './observed-agent.js';

/** What a host observed about an agent. An observation at an old epoch changes nothing. */
export interface ReportObservation {
  readonly host: string;
  readonly agentId: string;
  readonly epoch: number;
  readonly observation:
    | { readonly type: 'asleep'; readonly depth: 'warm' | 'cold'; readonly reason: 'idle' | 'host_shutdown' }
    | { readonly type: 'exited'; readonly message: string }
    | { readonly type: 'crash_loop'; readonly message: string }
    /** Its program is restarted. */
    | { readonly type: 'out_of_memory'; readonly message: string };
}

/**
 * All agents of a host. Hosts send it at their start and repeat it; the service reconciles agents that the host lacks.
 */
export interface AnnounceHost {
  readonly host: string;
  /** New at every start of the host's process. */
  readonly incarnation: string;
  /** Free memory of the host, in MB. */
  readonly freeMemMb: number;
  /** Absent in the announcement of an older release. */
  readonly figures?: HostFigures;
  readonly agents: readonly ObservedAgent[];
  /** Identity of the event log that the host's agents are in; null before its first announcement. */
  readonly logId: string | null;
}

/** Orders to the host, among them agents to end: by the log they are deleted, stopped or on another host. */
export interface HostOrders {
  readonly remove: readonly string[];
  readonly stop: readonly string[];
  /** Agents whose idle time is another one by now. An older release leaves it out. */
  readonly idleTimes?: readonly WantedIdleTime[];
  /** Identity of the event log: the host stores it at its first announcement and sends it with every later one. */
  readonly logId: string;
}

export interface ReportActivity {
  readonly host: string;
  readonly items: readonly {
    readonly agentId: string;
    readonly lastActiveAt: string;
    readonly lastActivityKind: ActivityKind;
    readonly sleepAt: string | null;
  }[];
}
