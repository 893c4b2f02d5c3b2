import type { FoundViewer, GetComputer, ViewerSessionView } from '@berth/contracts/computers';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { ComputersFromLog } from '../computer-list/computers-from-log.js';
import { sessionNotFound, type SessionEnd } from './viewer-session.js';

interface SessionRow {
  readonly id: string;
  readonly computer_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly mode: ViewerSessionView['mode'];
  readonly takeover: boolean;
  readonly created_at: Date;
  readonly opened_at: Date | null;
  readonly expires_at: Date;
}

/** A session that is over and has no event that says so yet. */
export interface OverSession {
  readonly sessionId: string;
  readonly computerId: string;
  readonly accountId: string;
  /** The host of its socket; null if none was opened. */
  readonly host: string | null;
  readonly reason: SessionEnd;
}

/** SQL: why the session `s` of the computer `l` is over; null while it lives. A session that waits outlives a sleep. */
const OVER = `CASE
  WHEN s.expires_at <= now() THEN 'expired'
  WHEN EXISTS (SELECT FROM revoked_keys k WHERE k.key_id = s.key_id) THEN 'key'
  WHEN EXISTS (SELECT FROM account_suspensions a WHERE a.account_id = s.account_id AND a.suspended)
    OR EXISTS (SELECT FROM end_user_suspensions e WHERE e.end_user_id = l.end_user_id AND e.suspended) THEN 'suspended'
  WHEN l.id IS NULL OR l.state = 'deleting' THEN 'computer'
  WHEN s.opened_at IS NOT NULL AND l.state NOT IN ('starting', 'running') THEN 'computer'
  END`;

const FROM = 'FROM viewer_sessions s LEFT JOIN computer_list l ON l.id = s.computer_id';

/** Reads of viewer sessions. None wakes a computer. */
@Injectable()
export class ViewerSessionsQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly computers: ComputersFromLog,
  ) {}

  /** Errors: not_found `session_not_found`, also once it is over. */
  async find(secretHash: string): Promise<FoundViewer> {
    const [row] = await this.database.query<SessionRow>(
      `SELECT s.* ${FROM} WHERE s.secret_hash = $1 AND ${OVER} IS NULL`,
      [secretHash],
    );
    if (row === undefined) throw sessionNotFound();
    return {
      accountId: row.account_id,
      computerId: row.computer_id,
      session: viewOf(row),
      keyId: row.key_id,
    };
  }

  /** Those that live, the oldest first. Errors: not_found `computer_not_found`. */
  async list({
    accountId,
    computerId,
  }: GetComputer): Promise<{ readonly items: readonly ViewerSessionView[] }> {
    await this.computers.load(accountId, computerId);
    const rows = await this.database.query<SessionRow>(
      `SELECT s.* ${FROM} WHERE s.computer_id = $1 AND ${OVER} IS NULL ORDER BY s.id`,
      [computerId],
    );
    return { items: rows.map(viewOf) };
  }

  /** The living sessions of a computer that `close` is about; null: all. */
  async living(computerId: string, sessionId: string | null): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT s.id ${FROM} WHERE s.computer_id = $1 AND ($2::text IS NULL OR s.id = $2) AND ${OVER} IS NULL`,
      [computerId, sessionId],
    );
    return rows.map(({ id }) => id);
  }

  /** Those that are over and have not ended in the log. */
  over(limit: number): Promise<readonly OverSession[]> {
    return this.database.query<OverSession>(
      `SELECT s.id AS "sessionId", s.computer_id AS "computerId", s.account_id AS "accountId",
         CASE WHEN s.opened_at IS NOT NULL THEN l.host END AS host, ${OVER} AS reason
       ${FROM} WHERE ${OVER} IS NOT NULL ORDER BY s.expires_at LIMIT $1`,
      [limit],
    );
  }
}

const viewOf = (row: SessionRow): ViewerSessionView => ({
  sessionId: row.id,
  mode: row.mode,
  takeover: row.takeover,
  status: row.opened_at === null ? 'waiting' : 'open',
  createdAt: row.created_at.toISOString(),
  openedAt: row.opened_at?.toISOString() ?? null,
  expiresAt: row.expires_at.toISOString(),
});
