import type {
  AgentCounts,
  AgentView,
  CountOfEndUsers,
  GetAgent,
  ListAgents,
  LocatedAgent,
} from '@berth/contracts/agents';
import type { Policy } from '@berth/contracts/schema';
import { streamName, type ProjectionRunner } from '@berth/event-store';
import { DomainError, type Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, GatheredCalls, type SqlRunner } from '@berth/persistence';
import { InjectProjection } from '@berth/service';
import { Inject, Injectable } from '@nestjs/common';
import { hostLost } from '../agent/decide-lost.js';
import { agentCodec } from '../agent/agent.events.js';
import { AGENT_LIST } from './agent-list.projection.js';
import { joinPolicy, POLICY_IN_FORCE } from '../policy/policies.js';
import type { AgentRow } from './agent-row.js';
import { viewOf } from './agent-view.js';
import { AgentsFromLog } from './agents-from-log.js';

/** A row joined with the agent's last use. */
interface ShownRow extends Omit<AgentRow, 'state_changed_at' | 'woken_at' | 'created_at' | 'updated_at'> {
  readonly state_changed_at: Date;
  readonly woken_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_active_at: Date | null;
  readonly last_activity_kind: string | null;
  readonly sleep_at: Date | null;
  readonly next_wake_at: Date | null;
  readonly policy: Policy | null;
}

const JOINED = `
  LEFT JOIN agent_activity a ON a.agent_id = l.id LEFT JOIN agent_next_wake w ON w.agent_id = l.id ${joinPolicy('l')}`;

const SELECT = `
  SELECT l.*, a.last_active_at, a.last_activity_kind, a.sleep_at, w.next_wake_at, ${POLICY_IN_FORCE} AS policy
  FROM agent_list l ${JOINED}`;

/** An agent that a request asks for. */
interface Sought {
  readonly accountId: string;
  readonly agentId: string;
}

/** Most agents that one statement reads. */
const MOST_AT_ONCE = 20;

interface ListedRow extends ShownRow {
  /** Number of rows found for this page, including one beyond its limit. */
  readonly found: string;
}

/** Maximum size of a page's JSON without its last agent; the largest agent takes less than 1 MiB. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Approximate size of an agent's JSON, exact for the members that can be large. */
const JSON_BYTES = `octet_length(coalesce(to_json(l.instructions)::text, '')) + octet_length(coalesce(l.labels::text, ''))
  + octet_length(coalesce(l.last_error::text, '')) + 4096`;

/** Reads of agents. A deleted agent is not found as soon as its deletion is accepted. */
@Injectable()
export class AgentListQuery {
  /** Requests that arrive during a statement share the next one, which begins after all of them. */
  readonly #found: GatheredCalls<Sought, ShownRow | undefined>;

  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly fromLog: AgentsFromLog,
    @InjectProjection(AGENT_LIST)
    private readonly agentList: Pick<ProjectionRunner, 'watchStream'>,
  ) {
    this.#found = new GatheredCalls((sought) => this.findAll(sought), MOST_AT_ONCE);
  }

  /** Reads an agent that is not in the list yet from its log. Errors: not_found `agent_not_found`. */
  async get(accountId: string, agentId: string): Promise<AgentView> {
    const row = await this.#found.call({ accountId, agentId });
    return row === undefined ? this.fromLog.view(accountId, agentId) : toView(row);
  }

  /** Returns once the agent is in the requested state or has failed, or when the wait times out. */
  async waitFor({ accountId, agentId, wait }: GetAgent): Promise<AgentView> {
    if (wait === null) return this.get(accountId, agentId);
    const end = Date.now() + wait.timeoutSeconds * 1000;
    using changes = this.agentList.watchStream(streamName(agentCodec.category, agentId));
    for (;;) {
      const agent = await this.get(accountId, agentId);
      if (agent.state === wait.state || agent.state === 'failed' || Date.now() >= end) return agent;
      await changes.changed(Math.max(1, end - Date.now()));
    }
  }

  /** A page ends at `limit`, or earlier at the size of a message. */
  async list(query: ListAgents): Promise<Page<AgentView>> {
    const { sql, params } = listSql(query);
    const rows = await this.database.query<ListedRow>(sql, params);
    const items = rows.slice(0, query.limit).map(toView);
    const last = items.at(-1);
    const more = last !== undefined && Number(rows[0]?.found) > items.length;
    return { items, nextCursor: more ? encodeCursor({ before: last.id }) : null };
  }

  async countOfEndUsers({ accountId, externalUserIds }: CountOfEndUsers): Promise<AgentCounts> {
    const rows = await this.database.query<{ id: string; agents: string }>(
      `SELECT external_user_id AS id, count(*) AS agents FROM agent_list
       WHERE account_id = $1 AND external_user_id = ANY($2) AND state <> 'deleting' GROUP BY external_user_id`,
      [accountId, externalUserIds],
    );
    return { counts: Object.fromEntries(rows.map(({ id, agents }) => [id, Number(agents)])) };
  }

  /** The number of agents of one end user. */
  async countOf(accountId: string, endUserId: string): Promise<number> {
    const [row] = await this.database.query<{ agents: string }>(
      `SELECT count(*) AS agents FROM agent_list
       WHERE account_id = $1 AND end_user_id = $2 AND state <> 'deleting'`,
      [accountId, endUserId],
    );
    return Number(row?.agents ?? 0);
  }

  /**
   * Returns the host of the agent's volume, and the agent's guest. Errors: not_found `agent_not_found`, unavailable
   * `agent_unavailable` while the host is lost.
   */
  async locate(accountId: string, agentId: string): Promise<LocatedAgent> {
    const rows = await this.database.query<LocatedAgent & { readonly state_reason: string | null }>(
      `SELECT host, guest, state_reason FROM agent_list WHERE id = $1 AND account_id = $2 AND state <> 'deleting'`,
      [agentId, accountId],
    );
    const row = rows[0];
    if (row === undefined) return this.fromLog.locate(accountId, agentId);
    if (row.state_reason === 'host_lost') throw hostLost();
    return { host: row.host, guest: row.guest };
  }

  private async findAll(sought: readonly Sought[]): Promise<readonly (ShownRow | undefined)[]> {
    const ids = [...new Set(sought.map(({ agentId }) => agentId))];
    const rows = await this.database.query<ShownRow>(
      `${SELECT} WHERE l.id = ANY($1::text[]) AND l.state <> 'deleting'`,
      [ids],
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    return sought.map(({ accountId, agentId }) => {
      const row = found.get(agentId);
      return row?.account_id === accountId ? row : undefined;
    });
  }
}

const listSql = (query: ListAgents): { sql: string; params: unknown[] } => {
  const params: unknown[] = [query.accountId];
  const conditions = ['l.account_id = $1', `l.state <> 'deleting'`];
  const add = (condition: (index: number) => string, value: unknown): void => {
    params.push(value);
    conditions.push(condition(params.length));
  };
  if (query.externalId !== null) add((n) => `l.external_id = $${n}`, query.externalId);
  if (query.externalUserId !== null) add((n) => `l.external_user_id = $${n}`, query.externalUserId);
  if (query.endUserId !== null && query.endUserId !== undefined)
    add((n) => `(l.end_user_id = $${n} OR l.end_user_id IS NULL)`, query.endUserId);
  if (query.state !== null) add((n) => `l.state = $${n}`, query.state);
  if (query.name !== null) add((n) => `l.name = $${n}`, query.name);
  if (query.label !== null) addLabel(query.label, add);
  if (query.cursor !== null) add((n) => `l.id < $${n}`, cursorId(query.cursor));
  params.push(query.limit + 1);
  // Sums the sizes before it reads whole rows: `limit` rows of the largest agents are 100 MB.
  return {
    sql: `
      WITH page AS (SELECT l.id, ${JSON_BYTES} AS bytes FROM agent_list l WHERE ${conditions.join(' AND ')}
        ORDER BY l.id DESC LIMIT $${params.length}),
      sized AS (SELECT id, sum(bytes) OVER (ORDER BY id DESC) - bytes AS bytes_before, count(*) OVER () AS found
        FROM page)
      SELECT l.*, a.last_active_at, a.last_activity_kind, a.sleep_at, w.next_wake_at, ${POLICY_IN_FORCE} AS policy,
        sized.found
      FROM sized JOIN agent_list l USING (id) ${JOINED}
      WHERE sized.bytes_before < ${String(PAGE_BYTES)} ORDER BY l.id DESC`,
    params,
  };
};

const addLabel = (
  label: string,
  add: (condition: (index: number) => string, value: unknown) => void,
): void => {
  const at = label.indexOf('=');
  if (at < 0) add((n) => `jsonb_exists(l.labels, $${n})`, label);
  else add((n) => `l.labels @> $${n}::jsonb`, JSON.stringify({ [label.slice(0, at)]: label.slice(at + 1) }));
};

const cursorId = (cursor: string): string => {
  const decoded = decodeCursor<{ before?: unknown } | null>(cursor);
  if (typeof decoded?.before === 'string') return decoded.before;
  throw new DomainError('invalid', 'invalid_request', 'The cursor is invalid.', {
    fields: [{ path: 'cursor', message: 'must be a nextCursor of an earlier page' }],
  });
};

/** Converts times, which the driver returns as `Date`, to ISO 8601. */
const toView = ({
  last_active_at,
  last_activity_kind,
  sleep_at,
  next_wake_at,
  policy,
  ...row
}: ShownRow): AgentView =>
  viewOf(
    {
      ...row,
      state_changed_at: row.state_changed_at.toISOString(),
      woken_at: row.woken_at.toISOString(),
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    },
    last_active_at === null
      ? null
      : {
          lastActiveAt: last_active_at.toISOString(),
          lastActivityKind: last_activity_kind ?? 'start',
          sleepAt: sleep_at?.toISOString() ?? null,
        },
    policy,
    next_wake_at?.toISOString() ?? null,
  );
