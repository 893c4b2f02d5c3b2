import type { HostFigures, HostState, HostView } from '@berth/contracts/agents';
import type { PageRequest } from '@berth/contracts/schema';
import type { Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { LOST_AFTER_SECONDS } from '@berth/boxes';

interface HostRow {
  readonly id: string;
  readonly name: string;
  readonly state: HostState;
  readonly figures: HostFigures | null;
  readonly last_seen_at: Date;
}

interface AgentCounts {
  readonly host: string;
  readonly awake: string;
  readonly warm: string;
  readonly cold: string;
}

/** Hosts as operators see them. */
@Injectable()
export class HostListQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** The oldest first, without removed ones. */
  async list({ cursor, limit }: PageRequest): Promise<Page<HostView>> {
    const after = cursor === null ? '' : decodeCursor<string>(cursor, isText);
    const rows = await this.database.query<HostRow>(
      `SELECT id, name, figures, coalesce(last_seen_at, joined_at) AS last_seen_at,
         CASE WHEN last_seen_at IS NULL OR last_seen_at < now() - make_interval(secs => $3) THEN 'lost'
           ELSE status END AS state
       FROM host_list LEFT JOIN agent_hosts ON host = id
       WHERE status <> 'removed' AND id > $1 ORDER BY id LIMIT $2`,
      [after, limit + 1, LOST_AFTER_SECONDS],
    );
    const shown = rows.slice(0, limit);
    const counts = await this.countsOf(shown.map(({ id }) => id));
    const last = shown.at(-1);
    return {
      items: shown.map((row) => toView(row, counts.get(row.id))),
      nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last.id) : null,
    };
  }

  private async countsOf(hosts: readonly string[]): Promise<ReadonlyMap<string, AgentCounts>> {
    const rows = await this.database.query<AgentCounts>(
      `SELECT host, count(*) FILTER (WHERE awake) AS awake, count(*) FILTER (WHERE warm) AS warm,
         count(*) FILTER (WHERE NOT awake AND NOT warm) AS cold
       FROM (SELECT host, state IN ('deploying', 'starting', 'running', 'stopping') AS awake,
         sleep_depth IS NOT DISTINCT FROM 'warm' AS warm FROM agent_list WHERE host = ANY($1)) AS agents
       GROUP BY host`,
      [hosts],
    );
    return new Map(rows.map((row) => [row.host, row]));
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** For a host that has not announced itself to this release. */
const NO_FIGURES = {
  driver: '',
  version: '',
  memMb: { total: 0, free: 0 },
  diskGb: { total: 0, free: 0 },
  runtimeClasses: [],
};

const toView = ({ id, name, state, figures, last_seen_at }: HostRow, counts?: AgentCounts): HostView => {
  const {
    limitsDisk: _limitsDisk,
    grantableDiskGb: _grantable,
    desktops: _desktops,
    ...shown
  } = figures ?? {
    ...NO_FIGURES,
    name,
    limitsDisk: false,
    grantableDiskGb: 0,
    desktops: false,
  };
  return {
    id,
    ...shown,
    state,
    agents: {
      awake: Number(counts?.awake ?? 0),
      warm: Number(counts?.warm ?? 0),
      cold: Number(counts?.cold ?? 0),
    },
    lastSeenAt: last_seen_at.toISOString(),
  };
};
