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

/** Wakes in the log, and admitted ones that it may not have yet: their agent has not reached their epoch. */
const COUNTED = `
  SELECT began.at FROM end_user_wakes began
  WHERE began.end_user_id = owner.end_user_id AND began.at > asked.now - make_interval(secs => ${WAKE_WINDOW_MS / 1_000})
  UNION ALL
  SELECT pending.at FROM wake_admissions pending LEFT JOIN end_user_agents known USING (agent_id)
  WHERE pending.end_user_id = owner.end_user_id AND pending.at > asked.now - make_interval(secs => ${PENDING_MS / 1_000})
    AND pending.epoch > coalesce(known.epoch, 0)
    AND NOT EXISTS (SELECT FROM end_user_wakes w WHERE w.agent_id = pending.agent_id AND w.epoch = pending.epoch)
    AND NOT (pending.agent_id = asked.agent_id AND pending.epoch = asked.epoch)`;

const READ = `
  SELECT ${POLICY_IN_FORCE} AS policy,
    CASE WHEN jsonb_exists(${POLICY_IN_FORCE}, 'compute_minutes_cap')
      THEN ${awakeMs('owner', 'asked.month', 'asked.now')} ELSE 0 END AS "awakeMs",
    EXISTS (
      SELECT FROM wake_admissions same WHERE same.agent_id = asked.agent_id AND same.epoch = asked.epoch
        AND same.at > asked.now - make_interval(secs => ${JOIN_MS / 1_000})
    ) AS "isAdmitted",
    CASE WHEN (${POLICY_IN_FORCE} ->> 'wakes_per_hour')::integer > 0 THEN (
      SELECT at FROM (${COUNTED}) AS counted ORDER BY at DESC
      OFFSET (${POLICY_IN_FORCE} ->> 'wakes_per_hour')::integer - 1 LIMIT 1
    ) END AS "blockedSince",
    (SELECT revision FROM wake_gates gate WHERE gate.end_user_id = owner.end_user_id) AS revision
  FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner
  CROSS JOIN (
    SELECT $3::timestamptz AS now, $4::timestamptz AS month, $5::text AS agent_id, $6::integer AS epoch
  ) AS asked ${joinPolicy('owner')}`;

/**
 * Writes only at the revision that was read. Without waiting for the disk: the log has the wake itself, and what a crash of
 * PostgreSQL could take is younger than a second.
 */
const ADMIT = `
  WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true) AS setting),
  gate AS (
    INSERT INTO wake_gates AS kept (end_user_id, revision) SELECT $1, 1 FROM relaxed WHERE setting = 'off'
    ON CONFLICT (end_user_id) DO UPDATE SET revision = kept.revision + 1 WHERE kept.revision = $2
    RETURNING 1
  ),
  old AS (
    DELETE FROM wake_admissions WHERE end_user_id = $1
      AND at < $5::timestamptz - make_interval(secs => ${(2 * PENDING_MS) / 1_000})
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
