import { isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { AgentsConfig } from '../config.js';
import { HostDirectory } from '../host/host-directory.js';
import { joinPolicy, POLICY_IN_FORCE } from '../policy/policies.js';
import { monthOf } from '../use/agent-use.js';
import { awakeMs } from '../use/spend.query.js';
import { Placement, type UnreportedCreation } from '../host/placement.js';

/** The process that decides a transition carries it out; after this time the reconciler continues it. */
const LEFT_UNFINISHED_SECONDS = 3;

const IS_AWAKE = `state IN ('deploying', 'starting', 'running')`;

export interface DueAgent {
  readonly id: string;
  /** null before its first start. */
  readonly host: string | null;
}

/** `except` are the agents that have running work already. */
export interface DueOptions {
  readonly except: readonly string[];
  readonly limit: number;
}

/** The agents that need work because time has passed. */
@Injectable()
export class DueAgentsQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly hosts: HostDirectory,
    private readonly placement: Placement,
    private readonly config: AgentsConfig,
  ) {}

  /** Agents whose transition is past its deadline, the longest waiting first. */
  overdue({ except, limit }: DueOptions): Promise<DueAgent[]> {
    return this.database.query<DueAgent>(
      `SELECT id, host FROM agent_list
       WHERE state IN ('deploying', 'starting', 'stopping') AND deadline_at < now() AND id <> ALL($1)
       ORDER BY state_changed_at LIMIT $2`,
      [except, limit],
    );
  }

  /** Agents whose transition no process carries out; at most `limit` of each host. */
  unfinished({ except, limit }: DueOptions): Promise<DueAgent[]> {
    return this.database.query<DueAgent>(
      `SELECT id, host FROM (
         SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY random()) AS place FROM agent_list
         WHERE state IN ('deploying', 'starting', 'stopping', 'deleting')
           AND state_changed_at < now() - make_interval(secs => $1) AND id <> ALL($2)
       ) AS unfinished WHERE place <= $3 ORDER BY random()`,
      [LEFT_UNFINISHED_SECONDS, except, limit],
    );
  }

  /** Agents that have slept warm for their time; at most `limit` of each host. */
  warm({ except, limit }: DueOptions): Promise<DueAgent[]> {
    return this.database.query<DueAgent>(
      `SELECT id, host FROM (
         SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY state_changed_at) AS place FROM agent_list
         WHERE sleep_depth = 'warm' AND state_changed_at <= now() - make_interval(secs => $1) AND id <> ALL($2)
       ) AS warm WHERE place <= $3 ORDER BY place`,
      [this.config.warmSleepSeconds, except, limit],
    );
  }

  /**
   * Agents of suspended accounts and end users that are awake, coming up, or asleep with their processes; at most `limit`
   * of each host.
   */
  suspended({ except, limit }: DueOptions): Promise<DueAgent[]> {
    return this.database.query<DueAgent>(
      `SELECT id, host FROM (
         SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY state_changed_at) AS place FROM (
           SELECT id, host, state_changed_at FROM agent_list JOIN account_suspensions USING (account_id)
           WHERE suspended AND (${IS_AWAKE} OR sleep_depth = 'warm')
           UNION
           SELECT id, host, state_changed_at FROM agent_list JOIN end_user_suspensions USING (end_user_id)
           WHERE suspended AND (${IS_AWAKE} OR sleep_depth = 'warm')
         ) AS suspended WHERE id <> ALL($1)
       ) AS awake WHERE place <= $2 ORDER BY place`,
      [except, limit],
    );
  }

  /** Running agents of end users who have used up their compute minutes; at most `limit` of each host. */
  overCap({ except, limit }: DueOptions): Promise<DueAgent[]> {
    const now = Date.now();
    return this.database.query<DueAgent>(
      `WITH running AS (
         SELECT l.id, l.host, l.account_id, l.end_user_id FROM end_user_agents u JOIN agent_list l ON l.id = u.agent_id
         WHERE u.running_since IS NOT NULL AND l.state = 'running'
       ), over AS (
         SELECT owner.end_user_id FROM (SELECT DISTINCT account_id, end_user_id FROM running) AS owner ${joinPolicy('owner')}
         WHERE jsonb_exists(${POLICY_IN_FORCE}, 'compute_minutes_cap')
           AND ${awakeMs('owner', '$1::timestamptz', '$2::timestamptz')}
             >= (${POLICY_IN_FORCE} ->> 'compute_minutes_cap')::float8 * 60000
       )
       SELECT id, host FROM (
         SELECT id, host, row_number() OVER (PARTITION BY host) AS place FROM running
         WHERE end_user_id IN (SELECT end_user_id FROM over) AND id <> ALL($3)
       ) AS due WHERE place <= $4`,
      [isoTime(monthOf(now).begin), isoTime(now), except, limit],
    );
  }

  /** The ids of an end user's agents in any state, because a row may lag behind the log. */
  async ofEndUser(endUserId: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM agent_list WHERE end_user_id = $1',
      [endUserId],
    );
    return rows.map(({ id }) => id);
  }

  /** Agents of these hosts that have not failed. */
  onHosts(hosts: readonly string[], { except, limit }: DueOptions): Promise<DueAgent[]> {
    return this.database.query<DueAgent>(
      `SELECT id, host FROM agent_list
       WHERE host = ANY($1) AND state NOT IN ('failed', 'deleting') AND id <> ALL($2) LIMIT $3`,
      [hosts, except, limit],
    );
  }

  /** Agents of hosts that operators removed. */
  async onRemovedHosts({ except, limit }: DueOptions): Promise<DueAgent[]> {
    const hosts = await this.hosts.removed();
    if (hosts.length === 0) return [];
    return this.database.query<DueAgent>(
      `SELECT id, host FROM agent_list
       WHERE host = ANY($1) AND state <> 'deleting' AND state_reason IS DISTINCT FROM 'host_removed'
         AND id <> ALL($2) LIMIT $3`,
      [hosts, except, limit],
    );
  }

  /** Creations whose agents no host has announced in time. */
  creations(limit: number): Promise<readonly UnreportedCreation[]> {
    return this.placement.overdue(limit);
  }
}
