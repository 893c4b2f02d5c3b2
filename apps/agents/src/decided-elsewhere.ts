import type { SqlRunner } from '@berth/persistence';

/** What another service decided about somebody, or something. */
export interface Decision<Value> {
  readonly id: string;
  readonly value: Value;
  /** Position of the event in the log; the highest one counts. */
  readonly position: bigint | string;
}

/** A table of decisions of another service: the last one about each id, in whatever order they arrive. */
export class DecidedElsewhere<Value extends boolean | string | null> {
  /** The names of the table, and of its columns; it has a `position` as well. */
  constructor(
    private readonly names: { readonly table: string; readonly id: string; readonly value: string },
  ) {}

  /** Ignores a decision older than the stored one. */
  async remember({ id, value, position }: Decision<Value>, database: SqlRunner): Promise<void> {
    const { table, id: key, value: column } = this.names;
    await database.query(
      `INSERT INTO ${table} AS existing (${key}, ${column}, position) VALUES ($1, $2, $3)
       ON CONFLICT (${key}) DO UPDATE SET ${column} = excluded.${column}, position = excluded.position
       WHERE existing.position < excluded.position`,
      [id, value, position.toString()],
    );
  }

  /** Call it when the log no longer contains events after `position` (null: any events). */
  async forgetAfter(position: bigint | null, database: SqlRunner): Promise<void> {
    await database.query(`DELETE FROM ${this.names.table} WHERE position > $1`, [
      (position ?? -1n).toString(),
    ]);
  }
}
