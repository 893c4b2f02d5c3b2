import type { HostFigures } from '@berth/contracts/agents';
import { LOST_AFTER_SECONDS, type SeenHost } from '@berth/boxes';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** The announcement of a host. */
export interface Announced {
  readonly host: string;
  /** New at every start of the host's process. */
  readonly incarnation: string;
  readonly freeMemMb: number;
  /** null for a host of an older release. */
  readonly figures: HostFigures | null;
}

/** An announcement compared with the previous one of the same host. */
export interface Sighting {
  /** Whether its process has changed. */
  readonly restarted: boolean;
  /** The time of the previous announcement, ISO 8601; null if there was none. */
  readonly seenAt: string | null;
}

/** The runtime hosts that have announced themselves to any process of this service. */
@Injectable()
export class HostDirectory {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Records that the host is alive; returns whether its process has changed, and when it was seen before. */
  async record({ host, incarnation, freeMemMb, figures }: Announced): Promise<Sighting> {
    const [before] = await this.database.query<{ incarnation: string; last_seen_at: Date }>(
      'SELECT incarnation, last_seen_at FROM agent_hosts WHERE host = $1',
      [host],
    );
    await this.database.query(
      `INSERT INTO agent_hosts (host, incarnation, last_seen_at, free_mem_mb, figures) VALUES ($1, $2, now(), $3, $4)
       ON CONFLICT (host) DO UPDATE SET incarnation = excluded.incarnation, last_seen_at = excluded.last_seen_at,
         free_mem_mb = excluded.free_mem_mb, figures = excluded.figures, silent_since = NULL`,
      [host, incarnation, freeMemMb, figures === null ? null : JSON.stringify(figures)],
    );
    return {
      restarted: before?.incarnation !== incarnation,
      seenAt: before?.last_seen_at.toISOString() ?? null,
    };
  }

  /** When the host last announced itself, ISO 8601; null if it never did. */
  async lastSeen(host: string): Promise<string | null> {
    const [row] = await this.database.query<{ last_seen_at: Date }>(
      'SELECT last_seen_at FROM agent_hosts WHERE host = $1',
      [host],
    );
    return row?.last_seen_at.toISOString() ?? null;
  }

  /** All hosts that were not removed. */
  async seen(): Promise<readonly SeenHost[]> {
    const rows = await this.database.query<{ host: string; last_seen_at: Date | null }>(
      `SELECT coalesce(seen.host, list.id) AS host, last_seen_at FROM agent_hosts AS seen
       FULL JOIN host_list AS list ON list.id = seen.host WHERE list.status IS DISTINCT FROM 'removed'`,
    );
    return rows.map(({ host, last_seen_at: at }) => ({ host, seenAt: at?.toISOString() ?? null }));
  }

  /** Hosts that operators removed. */
  async removed(): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM host_list WHERE status = 'removed'`,
    );
    return rows.map(({ id }) => id);
  }

  /** Whether the host has been silent for long enough to count as lost. */
  async isLost(host: string): Promise<boolean> {
    const rows = await this.database.query(
      'SELECT 1 FROM agent_hosts WHERE host = $1 AND last_seen_at >= now() - make_interval(secs => $2)',
      [host, LOST_AFTER_SECONDS],
    );
    return rows.length === 0;
  }
}
