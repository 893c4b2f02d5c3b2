import type { AgentState, AgentView } from '@berth/contracts/agents';
import type { AgentUsage } from '@berth/contracts/runtime';

/** What an agent uses now, as the API shows it. Sizes in bytes, times in ISO 8601. */
export interface AgentStats {
  readonly state: AgentState;
  readonly memBytes: number | null;
  readonly memLimitBytes: number;
  readonly cpuSeconds: number | null;
  readonly processes: number | null;
  readonly diskBytes: number | null;
  readonly diskLimitBytes: number;
  readonly startedAt: string | null;
  readonly asOf: string;
}

const MB = 1024 * 1024;
const GB = 1024 * MB;

/** Only an agent that is awake, starting or warm uses more than its disk. */
export const statsOf = (
  { state, sleepDepth, resources }: AgentView,
  usage: AgentUsage | null,
  asOf: string,
): AgentStats => {
  const rests = state === 'stopped' || state === 'failed' || sleepDepth === 'cold';
  const running = rests ? null : usage;
  return {
    state,
    memBytes: running?.memBytes ?? null,
    memLimitBytes: resources.memMb * MB,
    cpuSeconds: running?.cpuSeconds ?? null,
    processes: running?.processes ?? null,
    // An agent that its host does not know has stored nothing yet.
    diskBytes: usage === null ? 0 : usage.diskBytes,
    diskLimitBytes: resources.diskGb * GB,
    startedAt: running?.startedAt ?? null,
    asOf,
  };
};
