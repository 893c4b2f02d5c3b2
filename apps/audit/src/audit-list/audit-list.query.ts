import type { AuditAction, AuditActor, AuditOutcome, AuditView, ListAudit } from '@berth/contracts/audit';
import type { Json, Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { SealedDetails } from './personal-details.js';
import { SealedActs } from './sealed-acts.js';

interface AuditListRow {
  readonly position: string;
  readonly id: string;
  readonly at: Date;
  readonly actor_kind: AuditActor['kind'];
  readonly actor_id: string;
  readonly action: AuditAction;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly request_id: string | null;
  readonly outcome: AuditOutcome;
  readonly details: { readonly [member: string]: Json };
  readonly sealed: SealedDetails | null;
}

/** The last row of a page: its time and its position in the log, which is unique. */
type End = readonly [at: string, position: string];

/** The acts of an account, the newest first. */
@Injectable()
export class AuditListQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly sealedActs: SealedActs,
  ) {}

  async run(request: ListAudit): Promise<Page<AuditView>> {
    const { sql, values } = statementFor(request);
    const rows = await this.database.query<AuditListRow>(sql, values);
    const items = rows.slice(0, request.limit);
    const last = items.at(-1);
    const nextCursor =
      rows.length > request.limit && last !== undefined
        ? encodeCursor([last.at.toISOString(), last.position])
        : null;
    const acts = await this.sealedActs.open(request.accountId, items);
    return { items: acts.map(toView), nextCursor };
  }
}

/** Each condition is in the statement only if it applies, so that the planner chooses the index of the filter. */
const statementFor = (request: ListAudit): { readonly sql: string; readonly values: readonly unknown[] } => {
  const values: unknown[] = [request.accountId];
  const conditions = ['account_id = $1'];
  const add = (condition: (parameter: string) => string, value: unknown): void => {
    if (value === null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  add((value) => `actor_id = ${value}`, request.actor);
  add((value) => `resource_id = ${value}`, request.resource);
  add((value) => `action = ${value}`, request.action);
  add((value) => `at >= ${value}::timestamptz`, request.from);
  add((value) => `at <= ${value}::timestamptz`, request.to);
  if (request.cursor !== null) {
    const [at, position] = decodeCursor<End>(request.cursor, isEnd);
    values.push(at, position);
    conditions.push(`(at, position) < ($${values.length - 1}::timestamptz, $${values.length}::bigint)`);
  }
  values.push(request.limit + 1);
  const sql = `SELECT position::text, id, at, actor_kind, actor_id, action, resource_type, resource_id, request_id,
      outcome, details, sealed
    FROM audit_list WHERE ${conditions.join(' AND ')}
    ORDER BY at DESC, position DESC LIMIT $${values.length}`;
  return { sql, values };
};

const isEnd = (value: unknown): boolean => {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [at, position]: readonly unknown[] = value;
  if (typeof at !== 'string' || typeof position !== 'string') return false;
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(at) &&
    !Number.isNaN(Date.parse(at)) &&
    /^\d{1,18}$/.test(position)
  );
};

const toView = (row: AuditListRow): AuditView => ({
  id: row.id,
  at: row.at.toISOString(),
  actor: { kind: row.actor_kind, id: row.actor_id },
  action: row.action,
  resource: { type: row.resource_type, id: row.resource_id },
  requestId: row.request_id,
  outcome: row.outcome,
  details: row.details,
});
