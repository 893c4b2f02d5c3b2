import { FEEDBACK_KINDS, type FeedbackView } from '@berth/contracts/accounts';
import type { PageRequest } from '@berth/contracts/schema';
import { isId, type Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

interface Row extends Omit<FeedbackView, 'kind' | 'createdAt'> {
  readonly kind: string;
  readonly createdAt: Date;
}

const COLUMNS = `id, kind, subject, message, request_id AS "requestId", status_code AS "statusCode", tool,
  account_id AS "accountId", key_id AS "keyId", created_at AS "createdAt"`;

/** The reports of all accounts, the newest first: ids sort by time of creation. */
@Injectable()
export class FeedbackListQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  async list({ cursor, limit }: PageRequest): Promise<Page<FeedbackView>> {
    const before = cursor === null ? null : decodeCursor<string>(cursor, isFeedbackId);
    const rows = await this.database.query<Row>(
      `SELECT ${COLUMNS} FROM accounts_vault.feedback_reports
       WHERE $1::text IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
      [before, limit + 1],
    );
    const items = rows.slice(0, limit).map(toView);
    const last = items.at(-1);
    return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last.id) : null };
  }
}

const isFeedbackId = (value: unknown): boolean => typeof value === 'string' && isId('fbk', value);

const toView = ({ kind: stored, createdAt, ...row }: Row): FeedbackView => {
  const kind = FEEDBACK_KINDS.find((known) => known === stored);
  if (kind === undefined) throw new Error(`A feedback report has the unknown kind ${stored}.`);
  return { ...row, kind, createdAt: createdAt.toISOString() };
};
