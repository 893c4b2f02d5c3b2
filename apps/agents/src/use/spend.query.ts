import type { EndUserSpend, GetSpend } from '@berth/contracts/agents';
import type { Policy } from '@berth/contracts/schema';
import { Clock, isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { joinPolicy, POLICY_IN_FORCE } from '../policy/policies.js';
import { monthOf } from './agent-use.js';

const MINUTE_MS = 60_000;
const MILLIONTHS = 1_000_000;

/**
 * Milliseconds for which the agents of `owner` were awake in the month that begins at `begin` (SQL, timestamptz) until
 * `now`, those that are awake included.
 */
export const awakeMs = (owner: string, begin: string, now: string): string => `(
  coalesce((
    SELECT awake_ms FROM end_user_months closed WHERE closed.end_user_id = ${owner}.end_user_id
      AND closed.month = (${begin} AT TIME ZONE 'UTC')::date
  ), 0) + coalesce((
    SELECT sum(greatest(0, extract(epoch FROM ${now} - greatest(running_since, ${begin})) * 1000))
    FROM end_user_agents running WHERE running.end_user_id = ${owner}.end_user_id
      AND running_since IS NOT NULL
  ), 0)
)::float8`;

/** What an end user has used in this month, and what it may use. */
@Injectable()
export class SpendQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly clock: Clock,
  ) {}

  async of({ accountId, endUserId }: GetSpend): Promise<EndUserSpend> {
    const now = this.clock.now();
    const { begin, next } = monthOf(now);
    const [row] = await this.database.query<{ readonly policy: Policy | null; readonly ms: number }>(
      `SELECT ${POLICY_IN_FORCE} AS policy, ${awakeMs('owner', '$3::timestamptz', '$4::timestamptz')} AS ms
       FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner ${joinPolicy('owner')}`,
      [accountId, endUserId, isoTime(begin), isoTime(now)],
    );
    const minutes = (row?.ms ?? 0) / MINUTE_MS;
    return {
      periodStart: isoTime(begin),
      aiCents: 0,
      capCents: row?.policy?.llm_spend_cap_cents_per_month ?? null,
      computeMinutes: Math.round(minutes * MILLIONTHS) / MILLIONTHS,
      computeCapMinutes: row?.policy?.compute_minutes_cap ?? null,
      resetsAt: isoTime(next),
    };
  }
}
