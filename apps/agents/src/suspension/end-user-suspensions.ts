import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** A suspension or resumption of an end user. */
export interface EndUserStanding {
  readonly endUserId: string;
  readonly suspended: boolean;
  /** Position of the event in the log; the higher one counts. */
  readonly position: bigint;
}

/**
 * The suspended end users, as `end-users` told and published them: nothing begins to use their agents. A table of its
 * own, so that other agents work while `end-users` is down.
 */
@Injectable()
export class EndUserSuspensions {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Ignores an event older than the stored one. */
  async remember(
    { endUserId, suspended, position }: EndUserStanding,
    tx: SqlRunner = this.database,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO end_user_suspensions AS existing (end_user_id, suspended, position) VALUES ($1, $2, $3)
       ON CONFLICT (end_user_id) DO UPDATE SET suspended = excluded.suspended, position = excluded.position
       WHERE existing.position < excluded.position`,
      [endUserId, suspended, position.toString()],
    );
  }

  /** Runs in `tx`. Call it when the log no longer contains events after `position` (null: any events). */
  async forgetAfter(tx: SqlRunner, position: bigint | null): Promise<void> {
    await tx.query('DELETE FROM end_user_suspensions WHERE position > $1', [(position ?? -1n).toString()]);
  }

  /** Errors: forbidden `end_user_suspended`. */
  async requireActive(endUserId: string): Promise<void> {
    const suspended = await this.database.query(
      'SELECT 1 FROM end_user_suspensions WHERE end_user_id = $1 AND suspended',
      [endUserId],
    );
    if (suspended.length > 0)
      throw new DomainError(
        'forbidden',
        'end_user_suspended',
        'The end user of the agent is suspended. Resume the end user first.',
      );
  }
}
