import type { ApplyDefaults, ApplyPolicy } from '@berth/contracts/agents';
import type { Policy } from '@berth/contracts/schema';
import { Database, type SqlRunner, ReplicatedValues } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { Owner } from '../agent/owner.js';

const OWN = new ReplicatedValues<string | null>({
  table: 'end_user_policies',
  id: 'end_user_id',
  value: 'policy',
});
const DEFAULTS = new ReplicatedValues<string | null>({
  table: 'end_user_defaults',
  id: 'account_id',
  value: 'policy',
});

/** Joins to each row of `alias` the policy of its end user, which `POLICY_IN_FORCE` then selects. */
export const joinPolicy = (alias: string): string => `
  LEFT JOIN end_user_policies own ON own.end_user_id = ${alias}.end_user_id
  LEFT JOIN end_user_defaults fallback
    ON fallback.account_id = ${alias}.account_id AND ${alias}.end_user_id IS NOT NULL`;

/** The end user's own policy, or else the defaults of its account; never a mix of both. */
export const POLICY_IN_FORCE = 'coalesce(own.policy, fallback.policy)';

/** The idle time in force for an agent in `alias` after `joinPolicy(alias)`; the same rule as in `valuesInForce`. */
export const IDLE_TIME_IN_FORCE = (alias: string): string =>
  `coalesce((${POLICY_IN_FORCE} ->> 'idle_sleep_seconds')::integer, ${alias}.idle_ttl_seconds)`;

/** This service's copy of the policies of end users, which `end-users` decides. */
@Injectable()
export class Policies {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Returns null if the agent has no end user, or its end user has no policy. */
  async inForce({ accountId, endUserId }: Owner): Promise<Policy | null> {
    if (endUserId === null) return null;
    const [row] = await this.database.query<{ policy: Policy | null }>(
      `SELECT ${POLICY_IN_FORCE} AS policy
       FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner ${joinPolicy('owner')}`,
      [accountId, endUserId],
    );
    return row?.policy ?? null;
  }

  /** Ignores a change older than the stored one. Runs in `tx`, if given. */
  apply(
    { endUserId, policy, position }: Omit<ApplyPolicy, 'accountId'>,
    tx: SqlRunner = this.database,
  ): Promise<void> {
    return OWN.put({ id: endUserId, value: jsonOf(policy), position }, tx);
  }

  /** Like `apply`, for the defaults of an account. */
  applyDefaults(
    { accountId, policy, position }: ApplyDefaults,
    tx: SqlRunner = this.database,
  ): Promise<void> {
    return DEFAULTS.put({ id: accountId, value: jsonOf(policy), position }, tx);
  }

  /** Deletes what is stored about a deleted end user. */
  async forget(endUserId: string, tx: SqlRunner): Promise<void> {
    for (const table of ['end_user_policies', 'wake_gates', 'wake_admissions'])
      await tx.query(`DELETE FROM ${table} WHERE end_user_id = $1`, [endUserId]);
  }

  /** Runs in `tx`. Call it if the log has lost the events after `position` (null: all events). */
  async forgetAfter(tx: SqlRunner, position: bigint | null): Promise<void> {
    for (const values of [OWN, DEFAULTS]) await values.forgetAfter(position, tx);
  }
}

const jsonOf = (policy: Policy | null): string | null => (policy === null ? null : JSON.stringify(policy));
