import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { ComputersConfig } from '../config.js';

/** The process that decides a transition carries it out; after this time the reconciler continues it. */
const LEFT_UNFINISHED_SECONDS = 3;
/** A change this recent is left for the host's next announcement: the host may have listed its computers before it. */
const YOUNG_SECONDS = 15;

const IS_AWAKE = `state IN ('starting', 'running')`;

export interface DueComputer {
  readonly id: string;
  readonly host: string;
}

/** `except` are the computers that have running work already. */
export interface DueOptions {
  readonly except: readonly string[];
  readonly limit: number;
}

/** The computers that need work because time has passed. */
@Injectable()
export class DueComputersQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly config: ComputersConfig,
  ) {}

  /** Those whose transition is past its deadline, the longest waiting first. */
  overdue({ except, limit }: DueOptions): Promise<DueComputer[]> {
    return this.database.query<DueComputer>(
      `SELECT id, host FROM computer_list
       WHERE state IN ('starting', 'stopping') AND deadline_at < now() AND id <> ALL($1)
       ORDER BY state_changed_at LIMIT $2`,
      [except, limit],
    );
  }

  /** Those whose transition no process carries out; at most `limit` of each host. */
  unfinished(options: DueOptions): Promise<DueComputer[]> {
    return this.ofEachHost(
      `state IN ('starting', 'stopping', 'deleting') AND state_changed_at < now() - make_interval(secs => $3)`,
      options,
      LEFT_UNFINISHED_SECONDS,
    );
  }

  /** Those that have slept warm for their time; at most `limit` of each host. */
  warm(options: DueOptions): Promise<DueComputer[]> {
    return this.ofEachHost(
      `sleep_depth = 'warm' AND state_changed_at <= now() - make_interval(secs => $3)`,
      options,
      this.config.warmSleepSeconds,
    );
  }

  /**
   * Those of suspended accounts and end users that are awake, coming up, or asleep with their processes; at most `limit`
   * of each host.
   */
  suspended(options: DueOptions): Promise<DueComputer[]> {
    return this.ofEachHost(
      `(${IS_AWAKE} OR sleep_depth = 'warm') AND state_changed_at <= now() - make_interval(secs => $3) AND (
         EXISTS (SELECT FROM account_suspensions s WHERE s.account_id = l.account_id AND s.suspended)
         OR EXISTS (SELECT FROM end_user_suspensions s WHERE s.end_user_id = l.end_user_id AND s.suspended))`,
      options,
      0,
    );
  }

  /** Those of these hosts that have not failed. */
  onHosts(hosts: readonly string[], { except, limit }: DueOptions): Promise<DueComputer[]> {
    return this.database.query<DueComputer>(
      `SELECT id, host FROM computer_list
       WHERE host = ANY($1) AND state NOT IN ('failed', 'deleting') AND id <> ALL($2) LIMIT $3`,
      [hosts, except, limit],
    );
  }

  /** Those of hosts that operators have removed. */
  onRemovedHosts(hosts: readonly string[], { except, limit }: DueOptions): Promise<DueComputer[]> {
    return this.database.query<DueComputer>(
      `SELECT id, host FROM computer_list
       WHERE host = ANY($1) AND state <> 'deleting' AND state_reason IS DISTINCT FROM 'host_removed'
         AND id <> ALL($2) LIMIT $3`,
      [hosts, except, limit],
    );
  }

  /** The ids of those that the host should have processes of, or that it should start because they never sleep. */
  async expectedOn(host: string, restarted: boolean): Promise<readonly string[]> {
    // A lost host got no orders since, so what it lists is not older than the state.
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM computer_list
       WHERE host = $1 AND (state = 'running' OR sleep_depth = 'warm'
         OR (state = 'failed' AND state_reason = 'host_lost')
         OR (state = 'sleeping' AND state_reason = 'host_shutdown' AND idle_ttl_seconds = 0))
         AND ($2 OR state_reason = 'host_lost' OR state_changed_at < now() - make_interval(secs => $3))`,
      [host, restarted, YOUNG_SECONDS],
    );
    return rows.map(({ id }) => id);
  }

  private ofEachHost(
    condition: string,
    { except, limit }: DueOptions,
    seconds: number,
  ): Promise<DueComputer[]> {
    return this.database.query<DueComputer>(
      `SELECT id, host FROM (
         SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY random()) AS place FROM computer_list l
         WHERE id <> ALL($1) AND ${condition}
       ) AS due WHERE place <= $2`,
      [except, limit, seconds],
    );
  }
}
