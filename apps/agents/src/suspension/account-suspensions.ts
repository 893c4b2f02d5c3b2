import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** A suspension or resumption of an account. */
export interface AccountStanding {
  readonly accountId: string;
  readonly suspended: boolean;
  /** Position of the event in the log; the higher one counts. */
  readonly position: bigint;
}

/** The suspended accounts, as `accounts` published them: none of their agents wakes. */
@Injectable()
export class AccountSuspensions {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Runs in `tx`. Ignores an event older than the stored one. */
  async remember(tx: SqlRunner, { accountId, suspended, position }: AccountStanding): Promise<void> {
    await tx.query(
      `INSERT INTO account_suspensions AS existing (account_id, suspended, position) VALUES ($1, $2, $3)
       ON CONFLICT (account_id) DO UPDATE SET suspended = excluded.suspended, position = excluded.position
       WHERE existing.position < excluded.position`,
      [accountId, suspended, position.toString()],
    );
  }

  /** Runs in `tx`. Call it when the log no longer contains events after `position` (null: any events). */
  async forgetAfter(tx: SqlRunner, position: bigint | null): Promise<void> {
    await tx.query('DELETE FROM account_suspensions WHERE position > $1', [(position ?? -1n).toString()]);
  }

  /** Errors: forbidden `account_suspended`. */
  async requireActive(accountId: string): Promise<void> {
    const suspended = await this.database.query(
      'SELECT 1 FROM account_suspensions WHERE account_id = $1 AND suspended',
      [accountId],
    );
    if (suspended.length > 0)
      throw new DomainError('forbidden', 'account_suspended', 'The account of the agent is suspended.');
  }
}
