import type { SqlRunner } from '@berth/persistence';
import type { MeteredKind } from '../meter/metered-kind.js';
import { PLAN_COLUMNS, planFrom, type PlanColumns } from './plan-columns.js';
import type { Terms } from './terms.js';

/** The prices of an account, in order of time, as counted for a kind of boxes. */
export const termsOfAccount = async (
  { tables }: Pick<MeteredKind, 'tables'>,
  tx: SqlRunner,
  accountId: string,
): Promise<readonly Terms[]> => {
  const rows = await tx.query<PlanColumns & { readonly since_ms: string }>(
    `SELECT since_ms, ${PLAN_COLUMNS} FROM ${tables.terms} WHERE account_id = $1 ORDER BY since_ms`,
    [accountId],
  );
  return rows.map((row) => ({ since: Number(row.since_ms), plan: planFrom(row) }));
};
