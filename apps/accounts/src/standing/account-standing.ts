import type { Standing } from '@berth/contracts/accounts';
import type { ProjectionRunner } from '@berth/event-store';
import { Database, type SqlRunner } from '@berth/persistence';
import { InjectProjection } from '@berth/service';
import { Inject, Injectable } from '@nestjs/common';
import { accountListProjection } from '../account-list/account-list.projection.js';

/**
 * Whether an account is suspended, of `account_standing` and `account_list` joined as `standing` and `account`. A
 * suspension is in the former before its command returns, and in the latter if that command was interrupted; the
 * higher revision counts.
 */
export const IS_SUSPENDED = `
    CASE WHEN standing.revision >= account.revision OR account.revision IS NULL THEN COALESCE(standing.suspended, false)
      ELSE account.suspended_at IS NOT NULL END`;

const FIND_SUSPENDED = `
  SELECT wanted.id FROM unnest($1::text[]) AS wanted (id)
  LEFT JOIN account_standing standing ON standing.account_id = wanted.id
  LEFT JOIN account_list account ON account.id = wanted.id
  WHERE ${IS_SUSPENDED}`;

interface Recorded {
  readonly accountId: string;
  readonly suspended: boolean;
  /** The revision of the account's stream that this state belongs to. */
  readonly revision: bigint;
}

/**
 * Whether accounts are suspended, as authentication reads it. Written before a command returns; the account list follows
 * later, also after a command that was interrupted. The one with the higher revision counts.
 */
@Injectable()
export class AccountStanding {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    @InjectProjection(accountListProjection) private readonly accountList: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  /** Concurrent commands may arrive in another order than in the log. */
  async record({ accountId, suspended, revision }: Recorded): Promise<void> {
    await this.database.query(
      `INSERT INTO account_standing AS kept (account_id, suspended, revision) VALUES ($1, $2, $3)
       ON CONFLICT (account_id) DO UPDATE SET suspended = excluded.suspended, revision = excluded.revision
       WHERE kept.revision < excluded.revision`,
      [accountId, suspended, revision.toString()],
    );
  }

  async of(accountId: string): Promise<Standing> {
    return { suspended: (await this.suspendedAmong([accountId])).length > 0 };
  }

  /** Reads the tables on every call, without a cache. */
  async suspendedAmong(accountIds: readonly string[]): Promise<readonly string[]> {
    const rows = await this.database.query<{ readonly id: string }>(FIND_SUSPENDED, [accountIds]);
    return rows.map(({ id }) => id);
  }

  async waitForList(position: bigint | null): Promise<void> {
    if (position !== null) await this.accountList.waitFor(position);
  }
}
