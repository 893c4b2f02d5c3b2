import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';
import { Injectable, Inject } from '@nestjs/common';

/** Longer than any wake. */
const AT_MOST_SECONDS = 90;

/**
 * Marks executions that some process is about to dispatch to another epoch of their agent. Until then no host knows them,
 * but the reconciler must not give them up.
 */
@Injectable()
export class ReroutedExecutions {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  async mark(executionId: string): Promise<void> {
    await this.database.query(
      `INSERT INTO rerouting (execution_id, until) VALUES ($1, now() + make_interval(secs => ${AT_MOST_SECONDS}))
       ON CONFLICT (execution_id) DO UPDATE SET until = excluded.until`,
      [executionId],
    );
  }

  async unmark(executionId: string): Promise<void> {
    await this.database.query('DELETE FROM rerouting WHERE execution_id = $1', [executionId]);
  }

  async has(executionId: string): Promise<boolean> {
    const rows = await this.database.query(
      'SELECT 1 FROM rerouting WHERE execution_id = $1 AND until > now()',
      [executionId],
    );
    return rows.length > 0;
  }

  /** Removes marks of processes that died. */
  async sweep(): Promise<void> {
    await this.database.query('DELETE FROM rerouting WHERE until < now()');
  }
}
