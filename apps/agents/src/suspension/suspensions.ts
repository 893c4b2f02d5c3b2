import type { DomainError } from '@berth/kernel';
import type { SqlRunner } from '@berth/persistence';
import { DecidedElsewhere } from '../decided-elsewhere.js';

/** A suspension or resumption. */
export interface Standing {
  /** Whose it is. */
  readonly id: string;
  readonly suspended: boolean;
  /** Position of the event in the log; the higher one counts. */
  readonly position: bigint;
}

/** Those of one kind who are suspended: nothing begins to use their agents. */
export abstract class Suspensions {
  private readonly decided: DecidedElsewhere<boolean>;

  protected constructor(
    private readonly database: SqlRunner,
    private readonly names: { readonly table: string; readonly id: string },
  ) {
    this.decided = new DecidedElsewhere({ ...names, value: 'suspended' });
  }

  /** Ignores an event older than the stored one. Runs in `tx`, if given. */
  remember({ id, suspended, position }: Standing, tx: SqlRunner = this.database): Promise<void> {
    return this.decided.remember({ id, value: suspended, position }, tx);
  }

  /** Runs in `tx`. Call it when the log no longer contains events after `position` (null: any events). */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.decided.forgetAfter(position, tx);
  }

  /** Errors: forbidden `account_suspended`, `end_user_suspended`. */
  async requireActive(id: string): Promise<void> {
    const { table, id: key } = this.names;
    const suspended = await this.database.query(`SELECT 1 FROM ${table} WHERE ${key} = $1 AND suspended`, [
      id,
    ]);
    if (suspended.length > 0) throw this.refusal();
  }

  protected abstract refusal(): DomainError;
}
