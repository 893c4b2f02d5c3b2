import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { LiveEndUser } from '../end-user/end-user.js';

/**
 * Whether an end user is suspended, of `end_user_standing` and `end_user_list` joined as `standing` and `listed`. A
 * suspension is in the former before its command returns, and in the latter if that command was interrupted; the
 * higher revision counts.
 */
export const IS_SUSPENDED = `
    CASE WHEN standing.revision >= listed.revision OR listed.revision IS NULL THEN COALESCE(standing.suspended, false)
      ELSE listed.status = 'suspended' END`;

/** Whether end users are suspended, as authentication reads it. */
@Injectable()
export class EndUserStanding {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** `revision`: that of the stream that `endUser` reflects. Concurrent commands may arrive in another order than in the log. */
  async record({ endUserId, suspendedAt }: LiveEndUser, revision: bigint): Promise<void> {
    await this.database.query(
      `INSERT INTO end_user_standing AS kept (end_user_id, suspended, revision) VALUES ($1, $2, $3)
       ON CONFLICT (end_user_id) DO UPDATE SET suspended = excluded.suspended, revision = excluded.revision
       WHERE kept.revision < excluded.revision`,
      [endUserId, suspendedAt !== null, revision.toString()],
    );
  }
}
