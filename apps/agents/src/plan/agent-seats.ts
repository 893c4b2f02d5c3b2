import { isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { Holder } from '../reservation/reservation.js';

/** Agents of an account that exist, and those that are being created; an agent that is in both counts once. */
const AGENTS = `
  SELECT id FROM agent_list WHERE account_id = $1 AND state <> 'deleting'
  UNION SELECT agent_id FROM agent_seats WHERE account_id = $1`;

/** An agent of the list needs no seat. */
const VACATE = `
  DELETE FROM agent_seats seat USING agent_list agent WHERE seat.account_id = $1 AND agent.id = seat.agent_id`;

/** Within the limit, one that has a seat already takes none. */
const TAKE = `
  INSERT INTO agent_seats (agent_id, attempt, account_id, taken_at)
  SELECT $2, $3, $1, $4
  WHERE (SELECT count(*) FROM (${AGENTS}) other WHERE other.id <> $2) < $5::integer
  ON CONFLICT (agent_id, attempt) DO UPDATE SET taken_at = excluded.taken_at
  RETURNING agent_id`;

/** By then the agent is in the list, or its creation has died. Without a limit nothing else deletes these seats. */
const UNLIMITED_FOR_MS = 60_000;

const HOLD = `
  WITH outlived AS (
    DELETE FROM agent_seats WHERE (agent_id, attempt) IN (
      SELECT agent_id, attempt FROM agent_seats WHERE account_id = $1 AND agent_id <> $2 AND taken_at < $5
      FOR UPDATE SKIP LOCKED))
  INSERT INTO agent_seats (agent_id, attempt, account_id, taken_at) VALUES ($2, $3, $1, $4)
  ON CONFLICT (agent_id, attempt) DO UPDATE SET taken_at = excluded.taken_at`;

/** A creation that holds a seat. */
export interface Seat extends Holder {
  readonly takenAt: Date;
}

/** The seats of creations, which count as agents for the limit of a plan. */
@Injectable()
export class AgentSeats {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>) {}

  /**
   * Takes a seat for the creation; returns false if the account has as many agents as the limit. Seats of an account are
   * taken one after the other, in whichever processes. `now`: Unix milliseconds.
   */
  take({ agentId, attempt }: Holder, accountId: string, limit: number, now: number): Promise<boolean> {
    return this.database.transaction(async (tx: SqlRunner) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('agents/seats/' || $1, 0))`, [accountId]);
      await tx.query(VACATE, [accountId]);
      return (await tx.query(TAKE, [accountId, agentId, attempt, isoTime(now), limit])).length > 0;
    });
  }

  /** Takes a seat without a limit, for those who count once there is one. Idempotent. `now`: Unix milliseconds. */
  async hold({ agentId, attempt }: Holder, accountId: string, now: number): Promise<void> {
    const outlived = isoTime(now - UNLIMITED_FOR_MS);
    await this.database.query(HOLD, [accountId, agentId, attempt, isoTime(now), outlived]);
  }

  /** Idempotent. */
  async release({ agentId, attempt }: Holder): Promise<void> {
    await this.database.query('DELETE FROM agent_seats WHERE agent_id = $1 AND attempt = $2', [
      agentId,
      attempt,
    ]);
  }

  /** The creations of an account that hold a seat, the earliest first. */
  held(accountId: string): Promise<readonly Seat[]> {
    return this.database.query<Seat>(
      `SELECT agent_id AS "agentId", attempt, taken_at AS "takenAt" FROM agent_seats
       WHERE account_id = $1 ORDER BY taken_at`,
      [accountId],
    );
  }
}
