import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, isDomainError } from '@berth/kernel';
import type { Requester } from '@berth/messaging';
import type { Database, SqlRunner } from '@berth/persistence';

/** A host announces itself every 10 s; one that missed two announcements is not chosen. */
const FRESH_SECONDS = 25;
/** A host that was chosen says within this time that it is there. */
const PRESENT_WITHIN_MS = 500;
/** Without a fresh announcement every host is asked, and those that answer so soon are chosen from. */
const ASK_ALL_MS = 300;
const MAX_ABSENT = 5;
/** So long the memory of a new agent counts as taken although its host has not announced the agent yet. */
export const UNREPORTED_SECONDS = 60;

/** One attempt to create an agent. */
export interface PlacedCreation {
  readonly agentId: string;
  readonly accountId: string;
  readonly attempt: number;
  readonly memMb: number;
}

interface Candidate {
  readonly host: string;
  readonly freeMemMb: number;
}

/**
 * Chooses hosts for new agents: the one with the most memory left, less what was placed there and is not announced yet.
 * Placements of all processes are made one at a time, so that creations at the same time see each other.
 */
export class Placement {
  constructor(
    private readonly requester: Pick<Requester, 'request' | 'requestAll'>,
    private readonly database: Pick<Database, 'query' | 'transaction'>,
  ) {}

  /** Errors: unavailable when there is no host. */
  async place(creation: PlacedCreation): Promise<string> {
    for (let absent = 0; absent < MAX_ABSENT; absent++) {
      const host = await this.reserve(creation, announced);
      if (host === null) break;
      if (await this.isPresent(host)) return host;
      await this.database.query('UPDATE agent_hosts SET silent_since = now() WHERE host = $1', [host]);
    }
    const answers = await this.requester.requestAll(runtimeRequests.hosts, {}, { waitMs: ASK_ALL_MS });
    const host = await this.reserve(creation, () => Promise.resolve(answers));
    if (host !== null) return host;
    throw new DomainError(
      'unavailable',
      'service_unavailable',
      'No machine that runs agents answers; try again shortly.',
    );
  }

  /** The host's own account of its memory includes these from now on. */
  async reported(host: string, agentIds: readonly string[]): Promise<void> {
    if (agentIds.length === 0) return;
    await this.database.query('DELETE FROM agent_creations WHERE host = $1 AND agent_id = ANY($2)', [
      host,
      agentIds,
    ]);
  }

  /** The agent exists. */
  async settled(agentId: string): Promise<void> {
    await this.database.query('DELETE FROM agent_creations WHERE agent_id = $1', [agentId]);
  }

  /** Creations that no host has announced in time: done, or left behind. */
  overdue(limit: number): Promise<{ agent_id: string; account_id: string; attempt: number }[]> {
    return this.database.query(
      `SELECT agent_id, account_id, attempt FROM agent_creations
       WHERE placed_at < now() - make_interval(secs => $1) ORDER BY placed_at LIMIT $2`,
      [UNREPORTED_SECONDS, limit],
    );
  }

  private reserve(
    { agentId, accountId, attempt, memMb }: PlacedCreation,
    candidates: (tx: SqlRunner) => Promise<readonly Candidate[]>,
  ): Promise<string | null> {
    return this.database.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('agents/placement', 0))`);
      const host = roomiest(await candidates(tx), await unreported(tx, agentId));
      if (host === null) return null;
      await tx.query(
        `INSERT INTO agent_creations AS held (agent_id, account_id, attempt, host, mem_mb, placed_at)
         VALUES ($1, $2, $3, $4, $5, now())
         ON CONFLICT (agent_id) DO UPDATE SET attempt = greatest(held.attempt, excluded.attempt),
           host = excluded.host, mem_mb = excluded.mem_mb, placed_at = excluded.placed_at`,
        [agentId, accountId, attempt, host, memMb],
      );
      return host;
    });
  }

  private async isPresent(host: string): Promise<boolean> {
    try {
      await this.requester.request(runtimeRequests.describe, {}, { host, deadlineMs: PRESENT_WITHIN_MS });
      return true;
    } catch (error) {
      if (isDomainError(error, 'unavailable') || isDomainError(error, 'timeout')) return false;
      throw error;
    }
  }
}

const announced = (tx: SqlRunner): Promise<readonly Candidate[]> =>
  tx.query<Candidate>(
    `SELECT host, free_mem_mb AS "freeMemMb" FROM agent_hosts
     WHERE last_seen_at > now() - make_interval(secs => $1) AND silent_since IS NULL AND free_mem_mb IS NOT NULL`,
    [FRESH_SECONDS],
  );

const unreported = async (tx: SqlRunner, except: string): Promise<ReadonlyMap<string, number>> => {
  const rows = await tx.query<{ host: string; mem_mb: string }>(
    `SELECT host, sum(mem_mb) AS mem_mb FROM agent_creations
     WHERE agent_id <> $1 AND placed_at > now() - make_interval(secs => $2) GROUP BY host`,
    [except, UNREPORTED_SECONDS],
  );
  return new Map(rows.map(({ host, mem_mb }) => [host, Number(mem_mb)]));
};

/** The host with the most memory left; null when there is none. Pure. */
export const roomiest = (
  candidates: readonly Candidate[],
  unreportedMb: ReadonlyMap<string, number>,
): string | null => {
  const left = ({ host, freeMemMb }: Candidate): number => freeMemMb - (unreportedMb.get(host) ?? 0);
  const [first, ...others] = candidates;
  if (first === undefined) return null;
  return others.reduce((best, other) => (left(other) > left(best) ? other : best), first).host;
};
