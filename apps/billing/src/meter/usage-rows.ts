import type { SqlRunner } from '@berth/persistence';
import { PLAN_COLUMNS, planColumns, planFrom, type PlanColumns } from '../pricing/plan-columns.js';
import type { Terms } from '../pricing/terms.js';
import type { BoxMeter, MeterState } from './box-meter.js';
import { sumsOf, type MeteredKind } from './metered-kind.js';
import type { Identity } from './usage-fact.js';
import type { DayEntry, LedgerState, UsageLedger } from './usage-ledger.js';
import { typeOfSum } from './usage-tables.js';

interface MeterRow {
  readonly box_id: string;
  readonly account_id: string;
  readonly end_user_id: string | null;
  readonly created_ms: string;
  readonly deleted_ms: string | null;
  readonly state: MeterState;
  readonly running_ms: string | null;
  readonly counted_ms: string;
  readonly vcpu_micros: string;
  readonly mem_mb: string;
  readonly disk_gb: string;
}

const numberOrNull = (value: string | null): number | null => (value === null ? null : Number(value));

const meterFrom = (row: MeterRow): BoxMeter => ({
  boxId: row.box_id,
  accountId: row.account_id,
  endUserId: row.end_user_id,
  createdMs: Number(row.created_ms),
  deletedMs: numberOrNull(row.deleted_ms),
  state: row.state,
  runningMs: numberOrNull(row.running_ms),
  countedMs: Number(row.counted_ms),
  sizes: {
    vcpuMicros: Number(row.vcpu_micros),
    memMb: Number(row.mem_mb),
    diskGb: Number(row.disk_gb),
  },
});

/** The boxes and messages that a batch of events is about. */
export interface EventIds {
  readonly boxIds: readonly string[];
  readonly deliveryIds: readonly string[];
}

/** The rows that a batch of events starts from. Prices are few, so all of them are read. */
export const loadState = async (
  { tables, id }: MeteredKind,
  tx: SqlRunner,
  suffix: string,
  { boxIds, deliveryIds }: EventIds,
): Promise<LedgerState> => {
  const meters = await tx.query<MeterRow>(
    `SELECT *, ${id} AS box_id FROM ${tables.boxes}_${suffix} WHERE ${id} = ANY($1)`,
    [boxIds],
  );
  const plans = await tx.query<PlanColumns>(`SELECT * FROM ${tables.plans}_${suffix}`);
  const forgotten = await tx.query<{ readonly id: string }>(
    `SELECT end_user_id AS id FROM ${tables.forgotten}_${suffix}`,
  );
  const failedChats =
    tables.failedChats === undefined
      ? []
      : await tx.query<{ readonly id: string }>(
          `SELECT delivery_id AS id FROM ${tables.failedChats}_${suffix} WHERE delivery_id = ANY($1)`,
          [deliveryIds],
        );
  const [latest] = await tx.query<{ readonly latest_ms: string }>(
    `SELECT latest_ms FROM ${tables.latest}_${suffix}`,
  );
  return {
    meters: new Map(meters.map((row) => [row.box_id, meterFrom(row)])),
    terms: await loadTerms(tx, `${tables.terms}_${suffix}`),
    plans: new Map(plans.map((row) => [row.plan_id, planFrom(row)])),
    forgotten: new Set(forgotten.map((row) => row.id)),
    failedChats: new Set(failedChats.map((row) => row.id)),
    latestMs: Number(latest?.latest_ms ?? 0),
  };
};

type TermsRow = PlanColumns & { readonly account_id: string; readonly since_ms: string };

const loadTerms = async (tx: SqlRunner, table: string): Promise<Map<string, readonly Terms[]>> => {
  const rows = await tx.query<TermsRow>(`SELECT * FROM ${table} ORDER BY account_id, since_ms`);
  const byAccount = Map.groupBy(rows, ({ account_id }) => account_id);
  return new Map(
    [...byAccount].map(([account, some]) => [
      account,
      some.map((row) => ({ since: Number(row.since_ms), plan: planFrom(row) })),
    ]),
  );
};

export type Identities = ReadonlyMap<string, Identity>;

/** Writes what the ledger has counted. `identities`: of the boxes that the batch creates. */
export const saveLedger = async (
  kind: MeteredKind,
  tx: SqlRunner,
  suffix: string,
  ledger: UsageLedger,
  identities: Identities,
): Promise<void> => {
  const { tables } = kind;
  await saveMeters(kind, tx, suffix, ledger, identities);
  await addDays(kind, tx, suffix, ledger.days);
  await savePrices(kind, tx, suffix, ledger);
  await forget(kind, tx, suffix, [...ledger.newlyForgotten]);
  if (ledger.newlyFailedChats.size > 0 && tables.failedChats !== undefined)
    await tx.query(`INSERT INTO ${tables.failedChats}_${suffix} SELECT unnest($1::text[])`, [
      [...ledger.newlyFailedChats],
    ]);
  await tx.query(
    `INSERT INTO ${tables.latest}_${suffix} VALUES (true, $1, $2)
     ON CONFLICT (one) DO UPDATE SET latest_ms = excluded.latest_ms, position = excluded.position`,
    [ledger.state.latestMs, String(ledger.position)],
  );
};

const saveMeters = async (
  { tables, id }: MeteredKind,
  tx: SqlRunner,
  suffix: string,
  { changedMeters, state }: UsageLedger,
  identities: Identities,
): Promise<void> => {
  if (changedMeters.length === 0) return;
  const rows = changedMeters.map((meter) => {
    const isForgotten = meter.endUserId !== null && state.forgotten.has(meter.endUserId);
    const identity = isForgotten ? undefined : identities.get(meter.boxId);
    return {
      [id]: meter.boxId,
      account_id: meter.accountId,
      end_user_id: meter.endUserId,
      name: identity?.name ?? null,
      external_id: identity?.externalId ?? null,
      external_user_id: identity?.externalUserId ?? null,
      created_ms: meter.createdMs,
      deleted_ms: meter.deletedMs,
      state: meter.state,
      running_ms: meter.runningMs,
      counted_ms: meter.countedMs,
      vcpu_micros: meter.sizes.vcpuMicros,
      mem_mb: meter.sizes.memMb,
      disk_gb: meter.sizes.diskGb,
    };
  });
  const table = `${tables.boxes}_${suffix}`;
  // Names are written once, with the creation.
  await tx.query(
    `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)
     ON CONFLICT (${id}) DO UPDATE SET deleted_ms = excluded.deleted_ms, state = excluded.state,
       running_ms = excluded.running_ms, counted_ms = excluded.counted_ms, vcpu_micros = excluded.vcpu_micros,
       mem_mb = excluded.mem_mb, disk_gb = excluded.disk_gb`,
    [JSON.stringify(rows)],
  );
};

/** A rebuild spends most of its time here. A list for each column costs the database a third less than rows as JSON. */
const addDays = async (
  kind: MeteredKind,
  tx: SqlRunner,
  suffix: string,
  days: readonly DayEntry[],
): Promise<void> => {
  if (days.length === 0) return;
  const { id, tables } = kind;
  const sums = sumsOf(kind);
  const lists = sums.map((sum, n) => `$${String(n + 4)}::${typeOfSum(sum)}[]`);
  await tx.query(
    `INSERT INTO ${tables.days}_${suffix} AS kept (${['account_id', 'day', id, ...sums].join(', ')})
     SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], ${lists.join(', ')})
     ON CONFLICT (account_id, day, ${id}) DO UPDATE
       SET ${sums.map((sum) => `${sum} = kept.${sum} + excluded.${sum}`).join(', ')}`,
    [
      days.map(({ accountId }) => accountId),
      days.map(({ day }) => day),
      days.map(({ boxId }) => boxId),
      ...sums.map((sum) => days.map(({ use }) => use[sum])),
    ],
  );
};

const savePrices = async (
  { tables }: MeteredKind,
  tx: SqlRunner,
  suffix: string,
  ledger: UsageLedger,
): Promise<void> => {
  const terms = [...ledger.newTerms].flatMap(([account_id, some]) =>
    // Of several prices of one moment the last one counts.
    [...new Map(some.map((one) => [one.since, one])).values()].map(({ since, plan }) => ({
      account_id,
      since_ms: since,
      ...planColumns(plan),
    })),
  );
  const names = PLAN_COLUMNS.split(', ');
  const overwrite = names.map((name) => `${name} = excluded.${name}`).join(', ');
  if (terms.length > 0)
    await tx.query(
      `INSERT INTO ${tables.terms}_${suffix}
       SELECT * FROM jsonb_populate_recordset(NULL::${tables.terms}_${suffix}, $1::jsonb)
       ON CONFLICT (account_id, since_ms) DO UPDATE SET ${overwrite}`,
      [JSON.stringify(terms)],
    );
  const plans = [...ledger.state.plans.values()].map(planColumns);
  if (ledger.hasNewPlans)
    await tx.query(
      `INSERT INTO ${tables.plans}_${suffix}
       SELECT * FROM jsonb_populate_recordset(NULL::${tables.plans}_${suffix}, $1::jsonb)
       ON CONFLICT (plan_id) DO UPDATE SET ${overwrite}`,
      [JSON.stringify(plans)],
    );
};

const forget = async (
  { tables, names }: MeteredKind,
  tx: SqlRunner,
  suffix: string,
  endUserIds: readonly string[],
): Promise<void> => {
  if (endUserIds.length === 0) return;
  await tx.query(
    `INSERT INTO ${tables.forgotten}_${suffix} SELECT unnest($1::text[]) ON CONFLICT (end_user_id) DO NOTHING`,
    [endUserIds],
  );
  await tx.query(
    `UPDATE ${tables.boxes}_${suffix} SET ${names.map((name) => `${name} = NULL`).join(', ')}
     WHERE end_user_id = ANY($1)`,
    [endUserIds],
  );
};
