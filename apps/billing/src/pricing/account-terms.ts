import type { SqlRunner } from '@berth/persistence';
import { PLAN_COLUMNS, planFrom, type PlanColumns } from './plan-columns.js';
import type { Terms } from './terms.js';

/** The prices of an account, in order of time. */
export const termsOfAccount = async (tx: SqlRunner, accountId: string): Promise<readonly Terms[]> => {
  const rows = await tx.query<PlanColumns & { readonly since_ms: string }>(
    `SELECT since_ms, ${PLAN_COLUMNS} FROM usage_terms WHERE account_id = $1 ORDER BY since_ms`,
    [accountId],
  );
  return rows.map((row) => ({ since: Number(row.since_ms), plan: planFrom(row) }));
};
