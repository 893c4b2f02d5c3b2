import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** Returns which plans accounts have. */
@Injectable()
export class PlansInUseQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** The ids of the plans; empty while the account list does not exist yet, at the first start. */
  async run(): Promise<readonly string[]> {
    const [list] = await this.database.query<{ readonly exists: boolean }>(
      `SELECT to_regclass('account_list') IS NOT NULL AS exists`,
    );
    if (list?.exists !== true) return [];
    const rows = await this.database.query<{ readonly planId: string }>(
      'SELECT DISTINCT plan_id AS "planId" FROM account_list ORDER BY plan_id',
    );
    return rows.map(({ planId }) => planId);
  }
}
