import type { Policy } from '@berth/contracts/schema';
import { isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { Wake } from '../agent/act.js';
import type { OwnerWithEndUser } from '../agent/owner.js';
import { joinPolicy, POLICY_IN_FORCE } from '../policy/policies.js';
import { suspensionOf, type OwnerSuspension } from '../suspension/owner-suspension.js';
import { monthOf } from '../use/agent-use.js';
import { WAKE_WINDOW_MS } from '../use/end-user-use.projection.js';
import { awakeMs } from '../use/spend.query.js';
import type { StartDecision } from './caps.js';

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

const AWAKE_MS = `
  CASE WHEN jsonb_exists(${POLICY_IN_FORCE}, 'compute_minutes_cap')
    THEN ${awakeMs('owner', 'asked.month', 'asked.now')} ELSE 0 END AS "awakeMs"`;

const FACTS = `
  SELECT owner.end_user_id, asked.agent_id, asked.epoch, asked.now, ${suspensionOf('owner')}, ${POLICY_IN_FORCE} AS policy,
    ${AWAKE_MS},
    EXISTS (
      SELECT FROM wake_admissions same WHERE same.agent_id = asked.agent_id AND same.epoch = asked.epoch
        AND same.at > asked.now - make_interval(secs => ${JOIN_MS / 1_000})
    ) OR EXISTS (
      SELECT FROM end_user_wakes same WHERE same.agent_id = asked.agent_id AND same.epoch = asked.epoch
    ) AS "isAdmitted",
    CASE WHEN ${LIMIT} <= pending.total THEN pending.times[${LIMIT}]
      WHEN ${LIMIT} > 0 THEN (${LAST_THAT_FITS}) END AS "blockedSince",
    coalesce((SELECT revision FROM wake_gates gate WHERE gate.end_user_id = owner.end_user_id), 0) AS revision
  FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner
  CROSS JOIN (
    SELECT $3::timestamptz AS now, $4::timestamptz AS month, $5::text AS agent_id, $6::integer AS epoch
  ) AS asked ${joinPolicy('owner')}
  CROSS JOIN LATERAL (${PENDING}) AS pending`;

/** The decision on a start; `refuseStart` words the refusals. The wake that `fits` has to be counted. */
const VERDICT = `
  CASE WHEN "accountSuspended" OR "endUserSuspended" THEN 'suspended'
    WHEN "awakeMs" >= (policy ->> 'compute_minutes_cap')::float8 * 60000 THEN 'compute_cap_reached'
    WHEN agent_id IS NULL OR (policy ->> 'wakes_per_hour') IS NULL OR "isAdmitted" THEN 'not_limited'
    WHEN (policy ->> 'wakes_per_hour')::integer = 0 OR "blockedSince" IS NOT NULL THEN 'wake_limit_reached'
    ELSE 'fits' END`;

/** The decision on a start that is no wake, or that is not to begin: no wake limit applies, and nothing is written. */
const CHECK = `
  SELECT "accountSuspended", "endUserSuspended", policy, ${VERDICT} AS verdict, "blockedSince", false AS "isCounted"
  FROM (
    SELECT NULL::text AS agent_id, ${suspensionOf('owner')}, ${POLICY_IN_FORCE} AS policy, ${AWAKE_MS},
      false AS "isAdmitted", NULL::timestamptz AS "blockedSince"
    FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner
    CROSS JOIN (SELECT $3::timestamptz AS now, $4::timestamptz AS month) AS asked ${joinPolicy('owner')}
  ) AS facts`;

/**
 * One statement, because each costs a wake a round trip. It counts the wake only at the revision of the gate that it read,
 * and removes what the log has by now, so that few rows are pending. It does not wait for the disk: the log has the wake
 * itself, and what a crash of PostgreSQL could take is younger than a second.
 */
const ADMIT = `
  WITH facts AS MATERIALIZED (${FACTS}),
  decided AS MATERIALIZED (SELECT *, ${VERDICT} AS verdict FROM facts),
  fits AS MATERIALIZED (
    SELECT end_user_id, agent_id, epoch, now, revision + 1 AS next FROM decided WHERE verdict = 'fits'
  ),
  relaxed AS (SELECT set_config('synchronous_commit', 'off', true) AS setting),
  gate AS (
    INSERT INTO wake_gates AS kept (end_user_id, revision)
      SELECT end_user_id, next FROM fits CROSS JOIN relaxed WHERE setting = 'off'
    ON CONFLICT (end_user_id) DO UPDATE SET revision = excluded.revision WHERE kept.revision = excluded.revision - 1
    RETURNING 1
  ),
  old AS (
    DELETE FROM wake_admissions admitted USING fits WHERE admitted.end_user_id = fits.end_user_id
      AND NOT (admitted.agent_id = fits.agent_id AND admitted.epoch = fits.epoch) AND (
        at < fits.now - make_interval(secs => ${(2 * PENDING_MS) / 1_000})
        OR EXISTS (SELECT FROM end_user_agents k WHERE k.agent_id = admitted.agent_id AND k.epoch >= admitted.epoch)
      )
  ),
  counted AS (
    INSERT INTO wake_admissions (agent_id, epoch, end_user_id, at)
      SELECT agent_id, epoch, end_user_id, now FROM fits CROSS JOIN gate
    ON CONFLICT (agent_id, epoch) DO UPDATE SET at = excluded.at
    RETURNING 1
  )
  SELECT "accountSuspended", "endUserSuspended", policy, verdict, "blockedSince",
    EXISTS (SELECT FROM counted) AS "isCounted"
  FROM decided`;

/** A decision, and whether the wake was counted with it. */
export interface Decided extends StartDecision, OwnerSuspension {
  /** The policy in force; null: nothing limits the end user. */
  readonly policy: Policy | null;
  /** False although the wake fits: another wake of the end user was counted at the same time. */
  readonly isCounted: boolean;
}

type Row = Omit<Decided, 'blockedSince'> & { readonly blockedSince: Date | null };

/** The wakes of end users: those of the log, and admitted ones that are not in the log yet. */
@Injectable()
export class WakeLedger {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Decides, and counts the wake if it fits. `now`: Unix milliseconds. */
  async decide(
    { accountId, endUserId }: OwnerWithEndUser,
    wake: Wake | undefined,
    now: number,
  ): Promise<Decided> {
    const asked = [accountId, endUserId, isoTime(now), isoTime(monthOf(now).begin)];
    const [row] = await (wake === undefined
      ? this.database.query<Row>(CHECK, asked)
      : this.database.query<Row>(ADMIT, [...asked, wake.agentId, wake.epoch]));
    if (row === undefined) throw new Error('The admission of a start returned no row.');
    return { ...row, blockedSince: row.blockedSince?.getTime() ?? null };
  }
}
