import type { ActivityKind, ReportActivity } from '@berth/contracts/hosting';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { LiveAgent } from '../agent/agent.js';
import type { Activity } from './agent-view.js';

/** When agents were last used. Not in the log, because no decision depends on it. */
@Injectable()
export class AgentActivity {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Stores a batch of a host's reports; a use older than the stored one, or of another host's agent, is ignored. */
  async report({ host, items }: ReportActivity): Promise<void> {
    await this.#store(items, host);
  }

  async #store(items: ReportActivity['items'], host: string | null): Promise<void> {
    await this.database.query(
      `INSERT INTO agent_activity (agent_id, last_active_at, last_activity_kind, sleep_at)
       SELECT agent_id, last_active_at, last_activity_kind, sleep_at
       FROM jsonb_to_recordset($1::jsonb)
         AS item(agent_id text, last_active_at timestamptz, last_activity_kind text, sleep_at timestamptz)
       WHERE NOT EXISTS (SELECT 1 FROM agent_list WHERE id = item.agent_id AND host <> $2)
       ON CONFLICT (agent_id) DO UPDATE SET
         last_active_at = excluded.last_active_at,
         last_activity_kind = excluded.last_activity_kind,
         sleep_at = excluded.sleep_at
       WHERE agent_activity.last_active_at <= excluded.last_active_at`,
      [
        JSON.stringify(
          items.map((item) => ({
            agent_id: item.agentId,
            last_active_at: item.lastActiveAt,
            last_activity_kind: item.lastActivityKind,
            sleep_at: item.sleepAt,
          })),
        ),
        host,
      ],
    );
  }

  /** Returns the last use of an agent; null before its first. */
  async of(agentId: string): Promise<Activity | null> {
    const rows = await this.database.query<{
      last_active_at: Date;
      last_activity_kind: string;
      sleep_at: Date | null;
    }>('SELECT last_active_at, last_activity_kind, sleep_at FROM agent_activity WHERE agent_id = $1', [
      agentId,
    ]);
    const row = rows[0];
    if (row === undefined) return null;
    return {
      lastActiveAt: row.last_active_at.toISOString(),
      lastActivityKind: row.last_activity_kind,
      sleepAt: row.sleep_at?.toISOString() ?? null,
    };
  }

  /** Records a use that begins, so that its caller sees it immediately; the host reports when it ends. */
  async note({ agentId, profile }: LiveAgent, kind: ActivityKind): Promise<void> {
    const now = Date.now();
    const { idleTtlSeconds } = profile;
    const sleepAt = idleTtlSeconds === 0 ? null : new Date(now + idleTtlSeconds * 1000).toISOString();
    const lastActiveAt = new Date(now).toISOString();
    await this.#store([{ agentId, lastActiveAt, lastActivityKind: kind, sleepAt }], null);
  }
}
