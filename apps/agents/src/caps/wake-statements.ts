import { POLICY_IN_FORCE, joinPolicy } from '../policy/policies.js';
import { suspensionOf } from '@berth/boxes';
import { WAKE_WINDOW_MS } from '../use/end-user-use.projection.js';
import { awakeMs } from '../use/spend.query.js';

/**
 * A wake follows its admission within seconds. One that did not begin in this time never will: its process died, or the
 * agent changed in between.
 */
const PENDING_MS = 300_000;
/** A caller joins an admitted wake in this time; afterwards the wake is admitted again. */
const JOIN_MS = 60_000;

/** A process counts at most this many wakes of an end user, the decided one included, before it decides in full again. */
export const ROOM = 8;

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

/** The ordinal of the newest wake in the log, of the end user whose id is this SQL. */
const newest = (endUserId: string): string => `coalesce((
  SELECT newest.ordinal FROM end_user_wakes newest WHERE newest.end_user_id = ${endUserId}
  ORDER BY newest.ordinal DESC LIMIT 1
), 0)`;

/**
 * The wake in the log that must leave the window before `more` (SQL) further wakes fit. Found by its ordinal, without
 * counting.
 */
const blockedBy = (more: string): string => `
  SELECT CASE WHEN began.at > asked.now - make_interval(secs => ${WAKE_WINDOW_MS / 1_000}) THEN began.at END
  FROM end_user_wakes began
  WHERE began.end_user_id = owner.end_user_id AND began.ordinal = ${more} - ${LIMIT}
    + ${newest('owner.end_user_id')}`;

/**
 * The most wakes that there can be, beside those of the log, when a room is used up. `COUNT_WAKE` lets the log grow by the
 * pending wakes and those of the room, and as many may then be pending.
 */
const MOST_IN_ROOM = `2 * (pending.total + ${ROOM})`;

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
      WHEN ${LIMIT} > 0 THEN (${blockedBy('pending.total + 1')}) END AS "blockedSince",
    coalesce(${LIMIT} >= ${MOST_IN_ROOM} AND (${blockedBy(MOST_IN_ROOM)}) IS NULL, false) AS "hasRoom",
    pending.total + ${newest('owner.end_user_id')} + 1 AS ordinal,
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

/** The decision on a start that is no wake: no wake limit applies, and nothing is written. */
export const DECIDE_START = `
  SELECT "accountSuspended", "endUserSuspended", policy, ${VERDICT} AS verdict, "blockedSince", false AS "hasRoom",
    NULL::bigint AS "countedAt", NULL::bigint AS ordinal
  FROM (
    SELECT NULL::text AS agent_id, ${suspensionOf('owner')}, ${POLICY_IN_FORCE} AS policy, ${AWAKE_MS},
      false AS "isAdmitted", NULL::timestamptz AS "blockedSince"
    FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner
    CROSS JOIN (SELECT $3::timestamptz AS now, $4::timestamptz AS month) AS asked ${joinPolicy('owner')}
  ) AS facts`;

/**
 * Does not wait for the disk: the log has the wake itself, what a crash of PostgreSQL could take is younger than a second, and
 * `COUNT_WAKE` looks at the log.
 */
const RELAXED = `SELECT set_config('synchronous_commit', 'off', true) AS setting`;

/**
 * Counts a wake that is known to fit at the revision `$2`, unless it was counted before or the log has a wake with a higher
 * ordinal than `$6`: one that began while there was no limit, and was not counted.
 */
export const COUNT_WAKE = `
  WITH relaxed AS (${RELAXED}),
  gate AS (
    UPDATE wake_gates SET revision = revision + 1 FROM relaxed
    WHERE setting = 'off' AND end_user_id = $1 AND revision = $2 AND ${newest('$1')} <= $6
      AND NOT EXISTS (SELECT FROM wake_admissions same WHERE same.agent_id = $3 AND same.epoch = $4)
    RETURNING end_user_id
  )
  INSERT INTO wake_admissions (agent_id, epoch, end_user_id, at)
    SELECT $3, $4, end_user_id, $5::timestamptz FROM gate
  ON CONFLICT (agent_id, epoch) DO UPDATE SET at = excluded.at
  RETURNING epoch`;

/** Removes admissions that the log has by now, so that few rows are pending. */
export const REMOVE_OLD = `
  DELETE FROM wake_admissions admitted WHERE admitted.end_user_id = $1 AND (
    at < $2::timestamptz - make_interval(secs => ${(2 * PENDING_MS) / 1_000})
    OR EXISTS (SELECT FROM end_user_agents k WHERE k.agent_id = admitted.agent_id AND k.epoch >= admitted.epoch)
  )`;

/**
 * Decides and counts in one statement, because each costs a wake a round trip. It counts the wake only at the revision of
 * the gate that it read, and with `$7` only if it has a room.
 */
export const ADMIT_WAKE = `
  WITH facts AS MATERIALIZED (${FACTS}),
  decided AS MATERIALIZED (SELECT *, ${VERDICT} AS verdict FROM facts),
  fits AS MATERIALIZED (
    SELECT end_user_id, agent_id, epoch, now, revision + 1 AS next FROM decided
    WHERE verdict = 'fits' AND ("hasRoom" OR NOT $7::boolean)
  ),
  relaxed AS (${RELAXED}),
  gate AS (
    INSERT INTO wake_gates AS kept (end_user_id, revision)
      SELECT end_user_id, next FROM fits CROSS JOIN relaxed WHERE setting = 'off'
    ON CONFLICT (end_user_id) DO UPDATE SET revision = excluded.revision WHERE kept.revision = excluded.revision - 1
    RETURNING revision
  ),
  counted AS (
    INSERT INTO wake_admissions (agent_id, epoch, end_user_id, at)
      SELECT agent_id, epoch, end_user_id, now FROM fits CROSS JOIN gate
    ON CONFLICT (agent_id, epoch) DO UPDATE SET at = excluded.at
    RETURNING epoch
  )
  SELECT "accountSuspended", "endUserSuspended", policy, verdict, "blockedSince", "hasRoom",
    (SELECT revision FROM gate CROSS JOIN counted) AS "countedAt", ordinal
  FROM decided`;
