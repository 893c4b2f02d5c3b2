import { isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import type { Policy } from '@berth/contracts/schema';
import { Inject, Injectable } from '@nestjs/common';
import type { Wake } from '../agent/admission-rule.js';
import { joinPolicy, POLICY_IN_FORCE } from '../policy/policies.js';
import { monthOf } from '../use/agent-use.js';
import { WAKE_WINDOW_MS } from '../use/end-user-use.projection.js';
import { awakeMs } from '../use/spend.query.js';
import type { CapFacts } from './caps.js';

/**
 * A wake follows its admission within seconds. One that did not begin in this time never will: its process died, or the
 * agent changed in between.
 */
const PENDING_MS = 300_000;
/** A caller joins an admitted wake in this time; afterwards the wake is admitted again. */
const JOIN_MS = 60_000;

const LIMIT = `(${POLICY_IN_FORCE} ->> 'wakes_per_hour')::integer`;

/**
 * Admitted wakes that the log may not have yet: their agent has not reached their epoch. Scalar subqueries instead of joins,
 * because the planner reads whole tables to join these few rows.
 */
const PENDING = `
  SELECT count(*)::integer AS total, array_agg(admitted.at ORDER BY admitted.at DESC) AS times
  FROM wake_admissions admitted
  WHERE ${LIMIT} > 0 AND admitted.end_user_id = owner.end_user_id
    AND admitted.at > asked.now - make_interval(secs => ${PENDING_MS / 1_000})
    AND NOT (admitted.agent_id = asked.agent_id AND admitted.epoch = asked.epoch)
    AND admitted.epoch > coalesce((SELECT k.epoch FROM end_user_agents k WHERE k.agent_id = admitted.agent_id), 0)
    AND (SELECT w.at FROM end_user_wakes w WHERE w.agent_id = admitted.agent_id AND w.epoch = admitted.epoch) IS NULL`;

/** The wake of the log that, with the pending ones, makes as many as the limit. Found by its ordinal, without counting. */
const LAST_THAT_FITS = `
  SELECT CASE WHEN began.at > asked.now - make_interval(secs => ${WAKE_WINDOW_MS / 1_000}) THEN began.at END
  FROM end_user_wakes began
  WHERE began.end_user_id = owner.end_user_id AND began.ordinal = pending.total + 1 - ${LIMIT} + (
    SELECT newest.ordinal FROM end_user_wakes newest WHERE newest.end_user_id = owner.end_user_id
    ORDER BY newest.ordinal DESC LIMIT 1
  )`;

const READ = `
  SELECT ${POLICY_IN_FORCE} AS policy,
    CASE WHEN jsonb_exists(${POLICY_IN_FORCE}, 'compute_minutes_cap')
      THEN ${awakeMs('owner', 'asked.month', 'asked.now')} ELSE 0 END AS "awakeMs",
    EXISTS (
      SELECT FROM wake_admissions same WHERE same.agent_id = asked.agent_id AND same.epoch = asked.epoch
        AND same.at > asked.now - make_interval(secs => ${JOIN_MS / 1_000})
    ) OR EXISTS (
      SELECT FROM end_user_wakes same WHERE same.agent_id = asked.agent_id AND same.epoch = asked.epoch
    ) AS "isAdmitted",
    CASE WHEN ${LIMIT} <= pending.total THEN pending.times[${LIMIT}]
      WHEN ${LIMIT} > 0 THEN (${LAST_THAT_FITS}) END AS "blockedSince",
    (SELECT revision FROM wake_gates gate WHERE gate.end_user_id = owner.end_user_id) AS revision
  FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner
  CROSS JOIN (
    SELECT $3::timestamptz AS now, $4::timestamptz AS month, $5::text AS agent_id, $6::integer AS epoch
  ) AS asked ${joinPolicy('owner')}
  CROSS JOIN LATERAL (${PENDING}) AS pending`;

/**
 * Writes only at the revision that was read, and removes what the log has by now, so that few rows are pending. Without
 * waiting for the disk: the log has the wake itself, and what a crash of PostgreSQL could take is younger than a second.
 */
const ADMIT = `
  WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true) AS setting),
  gate AS (
    INSERT INTO wake_gates AS kept (end_user_id, revision) SELECT $1, 1 FROM relaxed WHERE setting = 'off'
    ON CONFLICT (end_user_id) DO UPDATE SET revision = kept.revision + 1 WHERE kept.revision = $2
    RETURNING 1
  ),
  old AS (
    DELETE FROM wake_admissions admitted WHERE end_user_id = $1 AND NOT (agent_id = $3 AND epoch = $4) AND (
      at < $5::timestamptz - make_interval(secs => ${(2 * PENDING_MS) / 1_000})
      OR EXISTS (SELECT FROM end_user_agents k WHERE k.agent_id = admitted.agent_id AND k.epoch >= admitted.epoch)
    )
  )
  INSERT INTO wake_admissions (agent_id, epoch, end_user_id, at) SELECT $3, $4, $1, $5 FROM gate
  ON CONFLICT (agent_id, epoch) DO UPDATE SET at = excluded.at
  RETURNING agent_id`;

interface Row extends Omit<CapFacts, 'blockedSince'> {
  readonly policy: Policy | null;
  readonly blockedSince: Date | null;
  readonly revision: string | null;
}

/** The facts, and the revision of the end user's gate at which they were read. */
export interface ReadFacts extends CapFacts {
  readonly revision: string;
}

/** The wakes of end users: those of the log, and admitted ones that are not in the log yet. */
@Injectable()
export class WakeLedger {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** `now`: Unix milliseconds. */
  async read(
    owner: { readonly accountId: string; readonly endUserId: string },
    wake: Wake | undefined,
    now: number,
  ): Promise<ReadFacts> {
    const [row] = await this.database.query<Row>(READ, [
      owner.accountId,
      owner.endUserId,
      isoTime(now),
      isoTime(monthOf(now).begin),
      wake?.agentId ?? null,
      wake?.epoch ?? null,
    ]);
    if (row === undefined) throw new Error('The query for the facts of an end user returned no row.');
    return {
      ...row,
      blockedSince: row.blockedSince?.getTime() ?? null,
      revision: row.revision ?? '0',
    };
  }

  /** Counts the wake; returns false if another wake of the end user was counted since `revision` was read. */
  async admit(endUserId: string, wake: Wake, revision: string, now: number): Promise<boolean> {
    const admitted = await this.database.query(ADMIT, [
      endUserId,
      revision,
      wake.agentId,
      wake.epoch,
      isoTime(now),
    ]);
    return admitted.length > 0;
  }
}
