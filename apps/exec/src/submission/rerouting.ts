import { Injectable, Inject } from '@nestjs/common';
import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';

/** Longer than a wake may take. */
const AT_MOST_SECONDS = 90;

/**
 * Which executions are about to be handed to another epoch of their agent, in any process: until then no host knows
 * them, and nobody must take them for lost.
 */
@Injectable()
export class Rerouting {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  async begin(executionId: string): Promise<void> {
    await this.database.query(
      `INSERT INTO rerouting (execution_id, until) VALUES ($1, now() + make_interval(secs => ${AT_MOST_SECONDS}))
       ON CONFLICT (execution_id) DO UPDATE SET until = excluded.until`,
      [executionId],
    );
  }

  async end(executionId: string): Promise<void> {
    await this.database.query('DELETE FROM rerouting WHERE execution_id = $1', [executionId]);
  }

  async isOn(executionId: string): Promise<boolean> {
    const rows = await this.database.query(
      'SELECT 1 FROM rerouting WHERE execution_id = $1 AND until > now()',
      [executionId],
    );
    return rows.length > 0;
  }

  /** Forgets those whose process ended first. */
  async sweep(): Promise<void> {
    await this.database.query('DELETE FROM rerouting WHERE until < now()');
  }
}
