import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests, type LogsPage, type ReadLogs } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import type { Requester } from '@berth/messaging';
import type { SharedReads } from './shared-reads.js';

const NOTHING_YET: LogsPage = { logs: [], nextCursor: null };

/** The cursor to read from, and how long to wait for new entries. */
export interface LogPosition {
  readonly cursor: string | null;
  readonly waitMs: number;
}

/** Reads one agent's logs from the host that has it, wherever the agent now is. Never wakes it. */
export class AgentLogs {
  constructor(
    private readonly requester: Requester,
    private readonly accountId: string,
    private readonly filter: Omit<ReadLogs, 'cursor' | 'waitMs'>,
    private readonly shared: SharedReads,
  ) {}

  /** Errors: not_found `agent_not_found`. An agent without a host has no logs yet. */
  read(position: LogPosition): Promise<LogsPage> {
    // Only waiting reads are shared: a plain read must not return a result older than its request.
    if (position.waitMs === 0) return this.ask(position);
    return this.shared.read(JSON.stringify([this.accountId, this.filter, position]), () =>
      this.ask(position),
    );
  }

  private async ask(position: LogPosition): Promise<LogsPage> {
    const { accountId, filter } = this;
    const { agentId } = filter;
    const { host } = await this.requester.request(agentsRequests.locate, { accountId, agentId });
    if (host === null) return NOTHING_YET;
    try {
      const deadlineMs = runtimeRequests.logs.deadlineMs + position.waitMs;
      const query = { ...filter, ...position };
      return await this.requester.request(runtimeRequests.logs, query, { host, deadlineMs });
    } catch (error) {
      if (isDomainError(error, 'not_found') && error.code === 'agent_not_on_host') return NOTHING_YET;
      throw error;
    }
  }
}
