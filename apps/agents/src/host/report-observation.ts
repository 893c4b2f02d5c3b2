import type { ReportActivity, ReportObservation } from '@berth/contracts-agents';
import type { SqlRunner } from '@berth/persistence';
import { systemOrigin, type AgentCommandHandler } from '../agent/agent.command-handler.js';
import type { AgentCommand } from '../agent/agent.commands.js';
import type { AgentLifecycle } from '../agent/agent-lifecycle.js';

/** What hosts see happen to their agents becomes commands; an old epoch's changes nothing. */
export class ObservationHandler {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly database: SqlRunner,
  ) {}

  async observe(report: ReportObservation): Promise<void> {
    const { agentId, epoch, observation } = report;
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live') return;
    const origin = systemOrigin(
      agent.profile.accountId,
      `${agentId}/${String(epoch)}/${agent.since}/${observation.type}`,
    );
    await this.agents.handle(agentId, toCommand(report), origin);
    // A recovery goes on behind the host's report.
    void this.lifecycle.drive(agentId);
  }

  /** Beside the log: when an agent was last used is no decision and may be lost. */
  async activity(report: ReportActivity): Promise<void> {
    await this.database.query(
      `INSERT INTO agent_activity (agent_id, last_active_at, last_activity_kind, sleep_at)
       SELECT agent_id, last_active_at, last_activity_kind, sleep_at
       FROM jsonb_to_recordset($1::jsonb)
         AS item(agent_id text, last_active_at timestamptz, last_activity_kind text, sleep_at timestamptz)
       ON CONFLICT (agent_id) DO UPDATE SET
         last_active_at = excluded.last_active_at,
         last_activity_kind = excluded.last_activity_kind,
         sleep_at = excluded.sleep_at
       WHERE agent_activity.last_active_at <= excluded.last_active_at`,
      [
        JSON.stringify(
          report.items.map((item) => ({
            agent_id: item.agentId,
            last_active_at: item.lastActiveAt,
            last_activity_kind: item.lastActivityKind,
            sleep_at: item.sleepAt,
          })),
        ),
      ],
    );
  }
}

const toCommand = ({ epoch, observation }: ReportObservation): AgentCommand => {
  const at = new Date().toISOString();
  switch (observation.type) {
    case 'asleep':
      return { type: 'FallAsleep', epoch, depth: observation.depth, reason: observation.reason, at };
    case 'exited':
      return { type: 'ReportCrash', epoch, message: observation.message, at };
    case 'crash_loop':
      return { type: 'ReportCrashLoop', epoch, message: observation.message, at };
  }
};
