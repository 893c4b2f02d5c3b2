import { runtimeRequests } from '@berth/contracts/runtime';
import { EventStore } from '@berth/event-store';
import { DomainError, isDomainError } from '@berth/kernel';
import { logIdentity, Requester } from '@berth/messaging';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** Hosts announce themselves every 10 s; a host that missed two announcements is not chosen. */
const FRESH_SECONDS = 25;
/** How long a chosen host has to confirm that it is available. */
const PRESENT_WITHIN_MS = 500;
/** Without a fresh announcement, a broadcast asks all hosts; their responses are collected for this long. */
const BROADCAST_MS = 300;
const MAX_ABSENT = 5;
/** How long the memory of a new agent counts as taken while its host has not announced the agent. */
export const UNREPORTED_SECONDS = 60;

/** One attempt to create an agent. */
export interface PlacedCreation {
  readonly agentId: string;
  readonly accountId: string;
  readonly attempt: number;
  readonly memMb: number;
}

export type UnreportedCreation = Pick<PlacedCreation, 'agentId' | 'accountId'>;

interface Candidate {
  readonly host: string;
  readonly freeMemMb: number;
}

/**
 * Chooses hosts for new agents: the host with the most free memory, less the agents that were placed there and are not
 * announced yet. A lock lets all processes together place one agent at a time, so that concurrent placements take each
 * other into account.
 */
@Injectable()
export class Placement {
  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request' | 'requestAll'>,
    @Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>,
    private readonly store: EventStore,
  ) {}

  /** Errors: unavailable when there is no host. */
  async place(creation: PlacedCreation): Promise<string> {
    for (let absent = 0; absent < MAX_ABSENT; absent++) {
      const host = await this.reserve(creation, announced);
      if (host === null) break;
      if (await this.isPresent(host)) return host;
      await this.database.query('UPDATE agent_hosts SET silent_since = now() WHERE host = $1', [host]);
    }
    const present = await this.ownHosts();
    const host = await this.reserve(creation, () => Promise.resolve(present));
    if (host !== null) return host;
    throw new DomainError(
      'unavailable',
      'service_unavailable',
      'No machine that runs agents is available; try again shortly.',
    );
  }

  /** Stops counting the memory of these agents: the free memory that the host announces takes them into account. */
  async reported(host: string, agentIds: readonly string[]): Promise<void> {
    if (agentIds.length === 0) return;
    await this.database.query('DELETE FROM agent_creations WHERE host = $1 AND agent_id = ANY($2)', [
      host,
      agentIds,
    ]);
  }

  /** Ends the creation of an agent that exists. */
  async settled(agentId: string): Promise<void> {
    await this.database.query('DELETE FROM agent_creations WHERE agent_id = $1', [agentId]);
  }

  /** Returns creations whose agents no host has announced in time, the oldest first. */
  overdue(limit: number): Promise<UnreportedCreation[]> {
    return this.database.query(
      `SELECT agent_id AS "agentId", account_id AS "accountId" FROM agent_creations
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
      const host = hostWithMostMemory(await candidates(tx), await unreported(tx, agentId));
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

  /**
   * Returns the hosts that respond, without those of an installation with another event log. A host without a log is
   * bound to this one by its first announcement.
   */
  private async ownHosts(): Promise<readonly Candidate[]> {
    const [own, present] = await Promise.all([
      logIdentity(this.store),
      this.requester.requestAll(runtimeRequests.hosts, {}, { waitMs: BROADCAST_MS }),
    ]);
    return present.filter(({ logId }) => (logId ?? own) === own);
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

/** Returns the host with the most memory left; null without candidates. Pure. */
export const hostWithMostMemory = (
  candidates: readonly Candidate[],
  unreportedMb: ReadonlyMap<string, number>,
): string | null => {
  const left = ({ host, freeMemMb }: Candidate): number => freeMemMb - (unreportedMb.get(host) ?? 0);
  const [first, ...others] = candidates;
  if (first === undefined) return null;
  return others.reduce((best, other) => (left(other) > left(best) ? other : best), first).host;
};
