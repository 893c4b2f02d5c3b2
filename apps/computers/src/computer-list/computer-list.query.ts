import type { ComputerView, GetComputer, ListComputers } from '@berth/contracts/computers';
import { isId, type Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { ComputerRow } from './computer-row.js';
import { ComputersFromLog } from './computers-from-log.js';
import { statesOf, viewOf } from './computer-view.js';

/** A row joined with the computer's last use. */
interface ShownRow extends Omit<ComputerRow, 'state_changed_at' | 'woken_at' | 'created_at'> {
  readonly state_changed_at: Date;
  readonly woken_at: Date;
  readonly created_at: Date;
  readonly last_active_at: Date | null;
  readonly sleep_at: Date | null;
}

const SELECT = `
  SELECT l.*, a.last_active_at, a.sleep_at
  FROM computer_list l LEFT JOIN computer_activity a ON a.computer_id = l.id`;

/** Reads of computers. A deleted computer is not found as soon as its deletion is accepted. */
@Injectable()
export class ComputerListQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly fromLog: ComputersFromLog,
  ) {}

  /** Reads a computer that is not in the list yet from its log. Errors: not_found `computer_not_found`. */
  async get({ accountId, computerId }: GetComputer): Promise<ComputerView> {
    const [row] = await this.database.query<ShownRow>(
      `${SELECT} WHERE l.id = $1 AND l.account_id = $2 AND l.state <> 'deleting'`,
      [computerId, accountId],
    );
    return row === undefined ? this.fromLog.view(accountId, computerId) : toView(row);
  }

  /** Newest first. */
  async list(query: ListComputers): Promise<Page<ComputerView>> {
    const { accountId, externalUserId, endUserId = null, status, cursor, limit } = query;
    const before = cursor === null ? null : decodeCursor<string>(cursor, isListed);
    const rows = await this.database.query<ShownRow>(
      `${SELECT}
       WHERE l.account_id = $1 AND l.state <> 'deleting' AND ($2::text IS NULL OR l.external_user_id = $2)
         AND ($3::text IS NULL OR l.end_user_id = $3) AND ($4::text[] IS NULL OR l.state = ANY($4))
         AND ($5::text IS NULL OR l.id < $5)
       ORDER BY l.id DESC LIMIT $6`,
      [
        ...[accountId, externalUserId, endUserId],
        ...[status === null ? null : statesOf(status), before, limit + 1],
      ],
    );
    const items = rows.slice(0, limit).map(toView);
    const last = items.at(-1);
    return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last.id) : null };
  }

  /** The ids of an end user's computers in any state, because a row may lag behind the log. */
  async ofEndUser(endUserId: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM computer_list WHERE end_user_id = $1',
      [endUserId],
    );
    return rows.map(({ id }) => id);
  }
}

const isListed = (value: unknown): boolean => typeof value === 'string' && isId('cmp', value);

/** Converts times, which the driver returns as `Date`, to ISO 8601. */
const toView = ({ last_active_at, sleep_at, ...row }: ShownRow): ComputerView =>
  viewOf(
    {
      ...row,
      state_changed_at: row.state_changed_at.toISOString(),
      woken_at: row.woken_at.toISOString(),
      created_at: row.created_at.toISOString(),
    },
    last_active_at === null
      ? null
      : { lastActiveAt: last_active_at.toISOString(), sleepAt: sleep_at?.toISOString() ?? null },
  );
