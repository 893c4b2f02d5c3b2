import type { AccountView } from '@berth/contracts/accounts';
import type { PageRequest } from '@berth/contracts/schema';
import { isId, type Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { accountNotFound } from '../account/account.decider.js';

interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly planId: string;
  readonly suspendedAt: Date | null;
  readonly createdAt: Date;
}

const COLUMNS = 'id, name, plan_id AS "planId", suspended_at AS "suspendedAt", created_at AS "createdAt"';

/** The accounts of the installation, the newest first: ids sort by time of creation. */
@Injectable()
export class AccountListQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Errors: not_found `account_not_found`. */
  async get(id: string): Promise<AccountView> {
    const [row] = await this.database.query<AccountRow>(`SELECT ${COLUMNS} FROM account_list WHERE id = $1`, [
      id,
    ]);
    if (row === undefined) throw accountNotFound();
    return toView(row);
  }

  async list({ cursor, limit }: PageRequest): Promise<Page<AccountView>> {
    const before = cursor === null ? null : decodeCursor<string>(cursor, isAccountId);
    const rows = await this.database.query<AccountRow>(
      `SELECT ${COLUMNS} FROM account_list WHERE $1::text IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
      [before, limit + 1],
    );
    const items = rows.slice(0, limit).map(toView);
    const last = items.at(-1);
    return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last.id) : null };
  }
}

const isAccountId = (value: unknown): boolean => typeof value === 'string' && isId('acc', value);

const toView = ({ suspendedAt, createdAt, ...row }: AccountRow): AccountView => ({
  ...row,
  suspended: suspendedAt !== null,
  suspendedAt: suspendedAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
});
