import type {
  EndUserRecord,
  EndUserView,
  GetEndUser,
  ListEndUsers,
  EndUserIds,
  FindEndUsers,
} from '@berth/contracts/end-users';
import { isId, type Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { endUserNotFound } from '../end-user/end-user.decider.js';
import { EndUserViews } from './end-user-views.js';

interface Row extends Omit<EndUserRecord, 'suspendedAt' | 'createdAt' | 'updatedAt' | 'lastActiveAt'> {
  readonly suspendedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastActiveAt: Date | null;
}

const SELECT = `
  SELECT l.id AS "endUserId", l.external_id AS "externalId", l.display_name AS "displayName", l.metadata, l.tags,
    l.status, l.suspended_at AS "suspendedAt", l.created_at AS "createdAt", l.updated_at AS "updatedAt",
    l.policy, a.last_active_at AS "lastActiveAt"
  FROM end_user_list l LEFT JOIN end_users_vault.activity a ON a.end_user_id = l.id
  WHERE l.account_id = $1 AND l.status <> 'deleted' AND l.external_id IS NOT NULL`;

/** The end users of an account. */
@Injectable()
export class EndUserListQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly views: EndUserViews,
  ) {}

  /** Errors: not_found `end_user_not_found`. */
  async get({ accountId, externalId }: GetEndUser): Promise<EndUserView> {
    const [row] = await this.database.query<Row>(`${SELECT} AND l.external_id = $2`, [accountId, externalId]);
    if (row === undefined) throw endUserNotFound();
    const [view] = await this.views.complete(accountId, [recordOf(row)]);
    if (view === undefined) throw endUserNotFound();
    return view;
  }

  async findIds({
    accountId,
    endUserIds,
    externalIds,
  }: FindEndUsers): Promise<{ readonly items: readonly EndUserIds[] }> {
    const items = await this.database.query<EndUserIds>(
      `SELECT id AS "endUserId", external_id AS "externalId" FROM end_user_list
       WHERE account_id = $1 AND status <> 'deleted' AND external_id IS NOT NULL
         AND (id = ANY($2) OR external_id = ANY($3))`,
      [accountId, endUserIds, externalIds],
    );
    return { items };
  }

  /** Newest first: ids sort by time of creation. */
  async list(request: ListEndUsers): Promise<Page<EndUserView>> {
    const { sql, params } = listSql(request);
    const rows = await this.database.query<Row>(sql, params);
    const page = rows.slice(0, request.limit);
    const items = await this.views.complete(request.accountId, page.map(recordOf));
    const last = page.at(-1);
    const more = rows.length > request.limit && last !== undefined;
    return { items, nextCursor: more ? encodeCursor(last.endUserId) : null };
  }
}

const listSql = (request: ListEndUsers): { readonly sql: string; readonly params: readonly unknown[] } => {
  const { accountId, status, tag, externalIdPrefix, lastActiveBefore, lastActiveAfter, cursor, limit } =
    request;
  const params: unknown[] = [accountId];
  const conditions: string[] = [];
  const add = (condition: (parameter: string) => string, value: unknown): void => {
    if (value !== null) conditions.push(`AND ${condition(`$${params.push(value)}`)}`);
  };
  add((p) => `l.status = ${p}`, status);
  add((p) => `l.tags @> ${p}::text[]`, tag === null ? null : [tag]);
  add((p) => `starts_with(l.external_id, ${p})`, externalIdPrefix);
  add((p) => `a.last_active_at < ${p}::timestamptz`, lastActiveBefore);
  add((p) => `a.last_active_at > ${p}::timestamptz`, lastActiveAfter);
  add((p) => `l.id < ${p}`, cursor === null ? null : decodeCursor<string>(cursor, isEndUserId));
  const sql = `${SELECT} ${conditions.join(' ')} ORDER BY l.id DESC LIMIT $${params.push(limit + 1)}`;
  return { sql, params };
};

const isEndUserId = (value: unknown): boolean => typeof value === 'string' && isId('eus', value);

const recordOf = (row: Row): EndUserRecord => ({
  ...row,
  suspendedAt: row.suspendedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  lastActiveAt: row.lastActiveAt?.toISOString() ?? null,
});
