import type { HostFigures } from '@berth/contracts/hosting';
import { boxOwner, runtimeRequests, type HostView } from '@berth/contracts/runtime';
import { EventStore } from '@berth/event-store';
import { DomainError } from '@berth/kernel';
import { logIdentity, Requester } from '@berth/messaging';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { cannotStart } from '../agent/agent-lifecycle.js';
import { HostProbe } from './host-probe.js';
import { HostStreams } from './host.streams.js';

/** Hosts announce themselves every 10 s; `Placement` ignores a host that has missed two announcements. */
const FRESH_SECONDS = 25;
/** How long `Placement` collects the responses to a broadcast, which it sends if no announced host is suitable. */
const BROADCAST_MS = 300;
const MAX_REFUSED = 5;
/** After this time, `Placement` stops trying single hosts and sends the broadcast. */
const ONE_BY_ONE_MS = 2_000;
/** How long a new agent's memory counts as taken if its host does not announce the agent. */
export const UNREPORTED_SECONDS = 60;

/** One attempt to create an agent or a computer. */
export interface PlacedCreation {
  /** `agt_…` or `cmp_…`. */
  readonly agentId: string;
  readonly accountId: string;
  readonly attempt: number;
  readonly memMb: number;
  readonly diskGb: number;
}

export type UnreportedCreation = Pick<PlacedCreation, 'agentId' | 'accountId'>;

interface Candidate {
  readonly host: string;
  readonly freeMemMb: number;
  /** null for a host of an older release. */
  readonly figures: Pick<HostFigures, 'diskGb' | 'grantableDiskGb' | 'limitsDisk' | 'desktops'> | null;
}

/** What a host must have. */
type Needs = Pick<PlacedCreation, 'memMb' | 'diskGb'> & { readonly desktops: boolean };

/**
 * Chooses hosts for new agents and computers: of the ready hosts with enough room, the one with the most free memory after subtracting
 * the agents that were placed there and are not announced yet. A lock lets all processes together place one agent at a
 * time, so that concurrent placements take each other into account.
 */
@Injectable()
export class Placement {
  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request' | 'requestAll'>,
    @Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>,
    private readonly store: EventStore,
    private readonly probe: HostProbe,
    private readonly hosts: HostStreams,
  ) {}

  /**
   * Errors: unavailable `no_capacity`; `service_unavailable` if there are hosts but none can start agents at present;
   * unsupported `computers_unsupported` for a computer if hosts are up and none has desktops.
   */
  async place(creation: PlacedCreation): Promise<string> {
    const giveUpAt = performance.now() + ONE_BY_ONE_MS;
    const refused = new Set<string>();
    while (refused.size < MAX_REFUSED && performance.now() < giveUpAt) {
      const host = await this.reserve(creation, announced, refused);
      if (host === null) break;
      if (await this.accepts(host, creation)) return host;
      refused.add(host);
    }
    const present = await this.ownHosts();
    const able = await this.ableOf(present);
    const host = await this.reserve(creation, () => Promise.resolve(able), new Set());
    if (host !== null) return host;
    if (!isComputer(creation)) throw noCapacity('agent');
    throw present.length > 0 && !present.some(({ desktops }) => desktops === true)
      ? computersUnsupported()
      : noCapacity('computer');
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
       WHERE placed_at < now() - make_interval(secs => $1) AND agent_id LIKE 'agt%' ORDER BY placed_at LIMIT $2`,
      [UNREPORTED_SECONDS, limit],
    );
  }

  private reserve(
    creation: PlacedCreation,
    candidates: (tx: SqlRunner) => Promise<readonly Candidate[]>,
    except: ReadonlySet<string>,
  ): Promise<string | null> {
    const { agentId, accountId, attempt, memMb } = creation;
    return this.database.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('agents/placement', 0))`);
      await forgetPlacedComputers(tx);
      const needs = needsOf(creation);
      const fitting = (await candidates(tx)).filter((one) => !except.has(one.host) && fits(one, needs));
      const host = hostWithMostMemory(fitting, await unreported(tx, agentId));
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
   * Whether the host is up, can start agents, still has the disk that the agent may use, and desktops for a computer, and is
   * ready according to the log. The log is read because the tables may lag behind a drain whose request has returned.
   */
  private async accepts(host: string, creation: PlacedCreation): Promise<boolean> {
    const [view, isReady] = await Promise.all([this.probe.describe(host), this.isReady(host)]);
    if (view === null)
      await this.database.query('UPDATE agent_hosts SET silent_since = now() WHERE host = $1', [host]);
    if (view === null || !isReady) return false;
    return hasDisk(figuresOf(view), creation.diskGb) && (!isComputer(creation) || view.desktops === true);
  }

  private async isReady(host: string): Promise<boolean> {
    const { status } = (await this.hosts.load(host)).state;
    // An unknown host joins with its next announcement.
    return status === 'ready' || status === 'unknown';
  }

  /**
   * Returns the hosts that respond, except hosts that belong to another event log. A host that belongs to no log yet is bound
   * to this one by its first announcement.
   */
  private async ownHosts(): Promise<readonly HostView[]> {
    const [own, present] = await Promise.all([
      logIdentity(this.store),
      this.requester.requestAll(runtimeRequests.hosts, {}, { waitMs: BROADCAST_MS }),
    ]);
    return present.filter(({ logId }) => (logId ?? own) === own);
  }

  /** Those that are ready and can start agents. */
  private async ableOf(present: readonly HostView[]): Promise<readonly Candidate[]> {
    const ready = await whichPass(present, ({ host }) => this.isReady(host));
    const able = await whichPass(ready, ({ host }) => this.probe.canStart(host));
    if (able.length === 0 && ready.length > 0) throw cannotStart();
    return able.map((view) => ({ host: view.host, freeMemMb: view.freeMemMb, figures: figuresOf(view) }));
  }
}

const whichPass = async <Item>(
  items: readonly Item[],
  test: (item: Item) => Promise<boolean>,
): Promise<readonly Item[]> => {
  const passes = await Promise.all(items.map(test));
  return items.filter((_, index) => passes[index]);
};

const announced = (tx: SqlRunner): Promise<readonly Candidate[]> =>
  tx.query<Candidate>(
    `SELECT host, free_mem_mb AS "freeMemMb", figures FROM agent_hosts LEFT JOIN host_list ON id = host
     WHERE last_seen_at > now() - make_interval(secs => $1) AND silent_since IS NULL AND free_mem_mb IS NOT NULL
       AND coalesce(status, 'ready') = 'ready'`,
    [FRESH_SECONDS],
  );

/**
 * Whether the host has as much free memory and disk as the agent may use, and desktops for a computer. What an agent does not
 * use, for example while it sleeps, others may use; the operator bounds only how often disk may be promised. Pure.
 */
export const fits = (
  { freeMemMb, figures }: Omit<Candidate, 'host'>,
  { memMb, diskGb, desktops }: Needs,
): boolean => freeMemMb >= memMb && hasDisk(figures, diskGb) && (!desktops || figures?.desktops === true);

const hasDisk = (figures: Candidate['figures'], diskGb: number): boolean =>
  figures === null ||
  !figures.limitsDisk ||
  (figures.diskGb.free >= diskGb && (figures.grantableDiskGb ?? Infinity) >= diskGb);

const figuresOf = ({
  diskGb,
  grantableDiskGb,
  limitsDisk,
  desktops = false,
}: HostView): Candidate['figures'] => {
  if (diskGb === undefined || limitsDisk === undefined) return null;
  return { diskGb, limitsDisk, desktops, ...(grantableDiskGb === undefined ? {} : { grantableDiskGb }) };
};

const isComputer = ({ agentId }: Pick<PlacedCreation, 'agentId'>): boolean =>
  boxOwner(agentId) === 'computers';

const needsOf = (creation: PlacedCreation): Needs => ({ ...creation, desktops: isComputer(creation) });

/** `computers` completes the creations of computers itself; here they only count while their hosts do not announce them. */
const forgetPlacedComputers = (tx: SqlRunner): Promise<unknown> =>
  tx.query(
    `DELETE FROM agent_creations WHERE agent_id LIKE 'cmp%' AND placed_at < now() - make_interval(secs => $1)`,
    [UNREPORTED_SECONDS],
  );

const noCapacity = (what: 'agent' | 'computer'): DomainError =>
  new DomainError(
    'unavailable',
    'no_capacity',
    `No machine has room for the ${what}; try again later${what === 'agent' ? ', or with smaller resources' : ''}.`,
  );

const computersUnsupported = (): DomainError =>
  new DomainError(
    'unsupported',
    'computers_unsupported',
    'No host has desktop software. Run `berth computers setup` on a host to install it.',
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
  candidates: readonly Pick<Candidate, 'host' | 'freeMemMb'>[],
  unreportedMb: ReadonlyMap<string, number>,
): string | null => {
  const left = ({ host, freeMemMb }: Pick<Candidate, 'host' | 'freeMemMb'>): number =>
    freeMemMb - (unreportedMb.get(host) ?? 0);
  const [first, ...others] = candidates;
  if (first === undefined) return null;
  return others.reduce((best, other) => (left(other) > left(best) ? other : best), first).host;
};
