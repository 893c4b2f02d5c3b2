import { Database, type SqlRunner } from '@berth/persistence';
import { metrics } from '@berth/telemetry';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';

const starts = metrics.counter(
  'berth_agent_starts',
  'Starts that succeeded, by cause, and whether the agent was thawed.',
  ['cause', 'thawed'],
);

/** Counts a start that the host confirmed; a wake has the cause `wake`. */
export const countStart = (cause: string, thawed: boolean): void => starts.inc({ cause, thawed });

/** `berth_agents`, read from the table on every scrape. Every instance reports the same number: take the maximum. */
@Injectable()
export class AgentMetrics implements OnApplicationBootstrap {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  onApplicationBootstrap(): void {
    metrics.gauge('berth_agents', 'Agents, by state and depth of sleep.', ['state', 'depth'], async () => {
      const rows = await this.database.query<{ state: string; depth: string; agents: string }>(
        `SELECT state, coalesce(sleep_depth, '') AS depth, count(*) AS agents FROM agent_list GROUP BY 1, 2`,
      );
      return rows.map(({ state, depth, agents }) => ({ value: Number(agents), labels: { state, depth } }));
    });
  }
}
