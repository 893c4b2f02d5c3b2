import { isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { joinPolicy, POLICY_IN_FORCE } from '../policy/policies.js';
import { monthOf } from '../use/agent-use.js';
import { awakeMs } from '../use/spend.query.js';

/** An end user who has used at least half of its compute minutes. */
export interface CapUse {
  readonly accountId: string;
  readonly endUserId: string;
  /** At least 50; 100 of a cap of 0. */
  readonly percent: number;
}

const CAP_MS = `(${POLICY_IN_FORCE} ->> 'compute_minutes_cap')::float8 * 60000`;

/** How much of their compute minutes end users have used. */
@Injectable()
export class CapUseQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** `now`: Unix milliseconds. `of`: those with running agents, or everybody who has agents. */
  above(now: number, of: 'running' | 'all'): Promise<readonly CapUse[]> {
    return this.database.query<CapUse>(
      `SELECT account_id AS "accountId", end_user_id AS "endUserId",
         CASE WHEN cap_ms = 0 THEN 100 ELSE used_ms / cap_ms * 100 END AS percent
       FROM (
         SELECT owner.account_id, owner.end_user_id, ${CAP_MS} AS cap_ms,
           ${awakeMs('owner', '$1::timestamptz', '$2::timestamptz')} AS used_ms
         FROM (
           SELECT DISTINCT l.account_id, l.end_user_id FROM end_user_agents u JOIN agent_list l ON l.id = u.agent_id
           WHERE $3::boolean OR u.running_since IS NOT NULL
         ) AS owner ${joinPolicy('owner')}
         WHERE jsonb_exists(${POLICY_IN_FORCE}, 'compute_minutes_cap')
       ) AS capped WHERE used_ms * 2 >= cap_ms`,
      [isoTime(monthOf(now).begin), isoTime(now), of === 'all'],
    );
  }
}
