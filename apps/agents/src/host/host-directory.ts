import { runtimeRequests, type HostView } from '@berth/contracts-runtime';
import { DomainError } from '@berth/kernel';
import type { Requester } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';

/** A host that says nothing for so long is taken for lost. It announces itself every 10 s. */
const LOST_AFTER_MS = 60_000;

/** Which runtime hosts there are. */
export class HostDirectory {
  constructor(
    private readonly requester: Requester,
    private readonly database: SqlRunner,
  ) {}

  /** The host with the most free memory. Errors: unavailable when none answers. */
  async place(): Promise<string> {
    const hosts = await this.requester.requestAll(runtimeRequests.hosts, {}, { waitMs: 300 });
    const best = hosts.reduce<HostView | null>(
      (left, right) => (left === null || right.freeMemMb > left.freeMemMb ? right : left),
      null,
    );
    if (best === null) {
      throw new DomainError(
        'unavailable',
        'service_unavailable',
        'No machine that runs agents answers; try again shortly.',
      );
    }
    return best.host;
  }

  /** Notes a sign of life; answers whether the host's process is a new one. */
  async seen(host: string, incarnation: string): Promise<{ restarted: boolean }> {
    const before = await this.database.query<{ incarnation: string }>(
      'SELECT incarnation FROM agent_hosts WHERE host = $1',
      [host],
    );
    await this.database.query(
      `INSERT INTO agent_hosts (host, incarnation, last_seen_at) VALUES ($1, $2, now())
       ON CONFLICT (host) DO UPDATE SET incarnation = excluded.incarnation, last_seen_at = excluded.last_seen_at`,
      [host, incarnation],
    );
    return { restarted: before[0]?.incarnation !== incarnation };
  }

  /** Hosts unheard of for a minute, as far as this process has listened that long itself. */
  async lost(listeningSince: number): Promise<readonly string[]> {
    if (Date.now() - listeningSince < LOST_AFTER_MS) return [];
    const rows = await this.database.query<{ host: string }>(
      `SELECT host FROM agent_hosts WHERE last_seen_at < now() - make_interval(secs => $1)`,
      [LOST_AFTER_MS / 1000],
    );
    return rows.map((row) => row.host);
  }
}
