import type { SqlRunner } from './sql-runner.js';

/** A value that another service decided, for example whether an account is suspended. */
export interface ReplicatedValue<Value> {
  readonly id: string;
  readonly value: Value;
  /** Position of the event in the log; the highest one counts. */
  readonly position: bigint | string;
}

/** A table with this service's copy of values that another service decides: the latest for each id, in any order of arrival. */
export class ReplicatedValues<Value extends boolean | string | null> {
  /** The names of the table and of its columns; the table also has a column `position`. */
  constructor(
    private readonly names: { readonly table: string; readonly id: string; readonly value: string },
  ) {}

  /** Stores the value; ignores one that is older than the stored one. */
  async put({ id, value, position }: ReplicatedValue<Value>, database: SqlRunner): Promise<void> {
    const { table, id: key, value: column } = this.names;
    await database.query(
      `INSERT INTO ${table} AS existing (${key}, ${column}, position) VALUES ($1, $2, $3)
       ON CONFLICT (${key}) DO UPDATE SET ${column} = excluded.${column}, position = excluded.position
       WHERE existing.position < excluded.position`,
      [id, value, position.toString()],
    );
  }

  /** Call it if the log has lost the events after `position` (null: all events). */
  async forgetAfter(position: bigint | null, database: SqlRunner): Promise<void> {
    await database.query(`DELETE FROM ${this.names.table} WHERE position > $1`, [
      (position ?? -1n).toString(),
    ]);
  }
}
