import { ReplicatedValues, type SqlRunner } from '@berth/persistence';

/** A suspension or resumption. */
export interface Standing {
  /** The id of the account or end user. */
  readonly id: string;
  readonly suspended: boolean;
  /** Position of the event in the log; the higher one counts. */
  readonly position: bigint;
}

/** This service's copy of which accounts, or which end users, are suspended: nothing may begin to use their boxes. */
export abstract class Suspensions {
  private readonly values: ReplicatedValues<boolean>;

  protected constructor(
    private readonly database: SqlRunner,
    names: { readonly table: string; readonly id: string },
  ) {
    this.values = new ReplicatedValues({ ...names, value: 'suspended' });
  }

  /** Ignores an event older than the stored one. Runs in `tx`, if given. */
  remember({ id, suspended, position }: Standing, tx: SqlRunner = this.database): Promise<void> {
    return this.values.put({ id, value: suspended, position }, tx);
  }

  /** Runs in `tx`. Call it if the log has lost the events after `position` (null: all events). */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.values.forgetAfter(position, tx);
  }
}
