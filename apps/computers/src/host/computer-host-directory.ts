import type { SeenHost } from '@berth/boxes';
import type { AnnounceHost } from '@berth/contracts/agents';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** An announcement compared with the previous one of the same host. */
export interface Sighting {
  /** Whether its process has changed. */
  readonly restarted: boolean;
  /** The time of the previous announcement, ISO 8601; null if there was none. */
  readonly seenAt: string | null;
}

/** The hosts that have announced themselves to any process of this service. */
@Injectable()
export class ComputerHostDirectory {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Records that the host is alive; returns what was known of it before. */
  async record({ host, incarnation }: Pick<AnnounceHost, 'host' | 'incarnation'>): Promise<Sighting> {
    const [before] = await this.database.query<{ incarnation: string; last_seen_at: Date }>(
      'SELECT incarnation, last_seen_at FROM computer_hosts WHERE host = $1',
      [host],
    );
    await this.database.query(
      `INSERT INTO computer_hosts (host, incarnation, last_seen_at) VALUES ($1, $2, now())
       ON CONFLICT (host) DO UPDATE SET incarnation = excluded.incarnation, last_seen_at = excluded.last_seen_at`,
      [host, incarnation],
    );
    return {
      restarted: before?.incarnation !== incarnation,
      seenAt: before?.last_seen_at.toISOString() ?? null,
    };
  }

  /** When the host last announced itself, ISO 8601; null if it never did. */
  async lastSeen(host: string): Promise<string | null> {
    const [row] = await this.database.query<{ last_seen_at: Date }>(
      'SELECT last_seen_at FROM computer_hosts WHERE host = $1',
      [host],
    );
    return row?.last_seen_at.toISOString() ?? null;
  }

  /** All hosts that have announced themselves, and those that have computers. */
  async seen(): Promise<readonly SeenHost[]> {
    const rows = await this.database.query<{ host: string; last_seen_at: Date | null }>(
      `SELECT coalesce(seen.host, held.host) AS host, last_seen_at FROM computer_hosts AS seen
       FULL JOIN (SELECT DISTINCT host FROM computer_list) AS held ON held.host = seen.host`,
    );
    return rows.map(({ host, last_seen_at: at }) => ({ host, seenAt: at?.toISOString() ?? null }));
  }
}
