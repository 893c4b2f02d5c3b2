import type { ReportActivity } from '@berth/contracts/hosting';
import { Clock, isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { LiveComputer } from '../computer/computer.js';
import type { Activity } from './computer-view.js';

/** When computers were last used. Not in the log, because no decision depends on it. */
@Injectable()
export class ComputerActivity {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly clock: Clock,
  ) {}

  /** Stores a batch of a host's reports; a use older than the stored one, or of another host's computer, is ignored. */
  async report({ host, items }: ReportActivity): Promise<void> {
    await this.store(
      items.map(({ agentId, lastActiveAt, sleepAt }) => ({ computerId: agentId, lastActiveAt, sleepAt })),
      host,
    );
  }

  /** Records a use that begins, so that its caller sees it immediately; the host reports when it ends. */
  async note({ computerId, profile }: LiveComputer): Promise<void> {
    const now = this.clock.now();
    const { idleTtlSeconds } = profile;
    const sleepAt = idleTtlSeconds === 0 ? null : isoTime(now + idleTtlSeconds * 1_000);
    await this.store([{ computerId, lastActiveAt: isoTime(now), sleepAt }], null);
  }

  /** Returns the last use of a computer; null before its first. */
  async of(computerId: string): Promise<Activity | null> {
    const [row] = await this.database.query<{ last_active_at: Date; sleep_at: Date | null }>(
      'SELECT last_active_at, sleep_at FROM computer_activity WHERE computer_id = $1',
      [computerId],
    );
    return row === undefined
      ? null
      : {
          lastActiveAt: row.last_active_at.toISOString(),
          sleepAt: row.sleep_at?.toISOString() ?? null,
        };
  }

  private async store(
    items: readonly (Activity & { readonly computerId: string })[],
    host: string | null,
  ): Promise<void> {
    await this.database.query(
      `INSERT INTO computer_activity (computer_id, last_active_at, sleep_at)
       SELECT computer_id, last_active_at, sleep_at
       FROM jsonb_to_recordset($1::jsonb) AS item(computer_id text, last_active_at timestamptz, sleep_at timestamptz)
       WHERE NOT EXISTS (SELECT FROM computer_list WHERE id = item.computer_id AND host <> $2)
       ON CONFLICT (computer_id) DO UPDATE SET last_active_at = excluded.last_active_at, sleep_at = excluded.sleep_at
       WHERE computer_activity.last_active_at <= excluded.last_active_at`,
      [
        JSON.stringify(
          items.map((item) => ({
            computer_id: item.computerId,
            last_active_at: item.lastActiveAt,
            sleep_at: item.sleepAt,
          })),
        ),
        host,
      ],
    );
  }
}
