import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** A host that is silent for this long counts as lost. Hosts announce themselves every 10 s. */
const LOST_AFTER_MS = 60_000;

/** The runtime hosts that have announced themselves to any process of this service. */
@Injectable()
export class HostDirectory {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Records that the host is alive; returns whether its process has changed. */
  async seen(host: string, incarnation: string, freeMemMb: number): Promise<{ restarted: boolean }> {
    const before = await this.database.query<{ incarnation: string }>(
      'SELECT incarnation FROM agent_hosts WHERE host = $1',
      [host],
    );
    await this.database.query(
      `INSERT INTO agent_hosts (host, incarnation, last_seen_at, free_mem_mb) VALUES ($1, $2, now(), $3)
       ON CONFLICT (host) DO UPDATE SET incarnation = excluded.incarnation, last_seen_at = excluded.last_seen_at,
         free_mem_mb = excluded.free_mem_mb, silent_since = NULL`,
      [host, incarnation, freeMemMb],
    );
    return { restarted: before[0]?.incarnation !== incarnation };
  }

  /** Returns the lost hosts; none until a minute after `listeningSince` (Unix milliseconds). */
  async lost(listeningSince: number): Promise<readonly string[]> {
    if (Date.now() - listeningSince < LOST_AFTER_MS) return [];
    const rows = await this.database.query<{ host: string }>(
      `SELECT host FROM agent_hosts WHERE last_seen_at < now() - make_interval(secs => $1)`,
      [LOST_AFTER_MS / 1000],
    );
    return rows.map((row) => row.host);
  }
}
