import type { EndUserSpend, GetSpend } from '@berth/contracts/agents';
import { llmRequests } from '@berth/contracts/llm';
import type { Policy } from '@berth/contracts/schema';
import { Clock, isoTime, showCents } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { joinPolicy, POLICY_IN_FORCE } from '../policy/policies.js';
import { minutesOf, monthOf } from './agent-use.js';

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
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  async of({ accountId, endUserId }: GetSpend): Promise<EndUserSpend> {
    const now = this.clock.now();
    const { begin, next } = monthOf(now);
    const [spent, [row]] = await Promise.all([
      this.requester.request(llmRequests.spend, { endUserId, at: isoTime(now) }),
      this.database.query<{ readonly policy: Policy | null; readonly ms: number }>(
        `SELECT ${POLICY_IN_FORCE} AS policy, ${awakeMs('owner', '$3::timestamptz', '$4::timestamptz')} AS ms
       FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner ${joinPolicy('owner')}`,
        [accountId, endUserId, isoTime(begin), isoTime(now)],
      ),
    ]);
    return {
      periodStart: isoTime(begin),
      aiCents: showCents(BigInt(spent.settled)),
      capCents: row?.policy?.llm_spend_cap_cents_per_month ?? null,
      computeMinutes: minutesOf(row?.ms ?? 0),
      computeCapMinutes: row?.policy?.compute_minutes_cap ?? null,
      resetsAt: isoTime(next),
    };
  }
}
