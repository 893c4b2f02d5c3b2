import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { EndUsersConfig } from '../config.js';

const WINDOW_SECONDS = 60;
const WINDOW = `interval '${String(WINDOW_SECONDS)} seconds'`;

/** Concurrent requests of one end user wait for the row, so that the count is exact. A refused one changes nothing. */
const TAKE = `
  INSERT INTO request_rate AS rate (end_user_id, began_at, requests) VALUES ($1, now(), 1)
  ON CONFLICT (end_user_id) DO UPDATE SET
    began_at = CASE WHEN rate.began_at > now() - ${WINDOW} THEN rate.began_at ELSE excluded.began_at END,
    requests = CASE WHEN rate.began_at > now() - ${WINDOW} THEN rate.requests + 1 ELSE 1 END
  WHERE rate.requests < $2 OR rate.began_at <= now() - ${WINDOW}
  RETURNING 1`;

/** The requests of each end user in the 60 seconds that begin with its first one, counted by all processes together. */
@Injectable()
export class RequestRate {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    @Inject(EndUsersConfig) private readonly config: Pick<EndUsersConfig, 'requestsPerMinute'>,
  ) {}

  /** Counts a request. Returns null, or in how many seconds there is room for another, at least 1. */
  async take(endUserId: string): Promise<number | null> {
    const taken = await this.database.query(TAKE, [endUserId, this.config.requestsPerMinute]);
    if (taken.length > 0) return null;
    const [row] = await this.database.query<{ readonly left: number }>(
      `SELECT ceil(extract(epoch FROM began_at + ${WINDOW} - now()))::integer AS left
       FROM request_rate WHERE end_user_id = $1`,
      [endUserId],
    );
    return Math.min(WINDOW_SECONDS, Math.max(1, row?.left ?? 1));
  }

  async forget(endUserId: string): Promise<void> {
    await this.database.query('DELETE FROM request_rate WHERE end_user_id = $1', [endUserId]);
  }
}
