import type { ProjectionRunner } from '@berth/event-store';
import { Database, type SqlRunner } from '@berth/persistence';
import { InjectProjection } from '@berth/service';
import { Inject, Injectable } from '@nestjs/common';
import { accountListProjection } from '../account-list/account-list.projection.js';

interface Standing {
  readonly accountId: string;
  readonly suspended: boolean;
  /** The revision of the account's stream that says so. */
  readonly revision: bigint;
}

/**
 * Whether accounts are suspended, as authentication reads it. Written before a command returns; the account list follows
 * by itself and completes what an interrupted command left out. The one with the higher revision counts.
 */
@Injectable()
export class AccountStanding {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    @InjectProjection(accountListProjection) private readonly accountList: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  /** Concurrent commands may arrive in another order than in the log. */
  async record({ accountId, suspended, revision }: Standing): Promise<void> {
    await this.database.query(
      `INSERT INTO account_standing AS kept (account_id, suspended, revision) VALUES ($1, $2, $3)
       ON CONFLICT (account_id) DO UPDATE SET suspended = excluded.suspended, revision = excluded.revision
       WHERE kept.revision < excluded.revision`,
      [accountId, suspended, revision.toString()],
    );
  }

  async waitForList(position: bigint | null): Promise<void> {
    if (position !== null) await this.accountList.waitFor(position);
  }
}
