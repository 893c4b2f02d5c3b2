import type { ObservedAgent, WantedIdleTime } from '@berth/contracts/hosting';
import { runtimeRequests } from '@berth/contracts/runtime';
import { Requester } from '@berth/messaging';
import { Database, type SqlRunner } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { LiveAgent } from '../agent/agent.js';
import { ownerOf } from '../agent/owner.js';
import { ownValuesOf, valuesInForce } from './in-force.js';
import { IDLE_TIME_IN_FORCE, joinPolicy, Policies } from './policies.js';

/** Keeps a message small; the rest is sent in further ones, or ordered at the next announcement. */
const AT_ONCE = 1_000;

/** An agent that has processes: its host measures its idle time, or will at its next thaw. */
const IS_UP = `(l.state IN ('deploying', 'starting', 'running') OR l.sleep_depth = 'warm')`;

/** The agents that a changed policy concerns: those of an end user, or of a whole account. */
export type Concerned = { readonly endUserId: string } | { readonly accountId: string };

/**
 * The idle times that are in force, on the hosts that measure them. A change is sent to them at once; whatever does not
 * arrive there is in the difference to what they announce.
 */
@Injectable()
export class IdleTimes {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    @Inject(Policies) private readonly policies: Pick<Policies, 'inForce'>,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly log: Logger,
  ) {}

  /** Seconds; 0: always on. */
  async inForce(agent: LiveAgent): Promise<number> {
    const policy = await this.policies.inForce(ownerOf(agent.profile));
    return valuesInForce(ownValuesOf(agent), policy).idleTtlSeconds;
  }

  /** Sends them to the hosts of the agents that are up. Does not fail: announcements repeat what is lost. */
  async send(concerned: Concerned): Promise<void> {
    try {
      const byHost = Map.groupBy(await this.ofAgentsUp(concerned), ({ host }) => host);
      await Promise.all([...byHost].map(([host, agents]) => this.sendTo(host, agents)));
    } catch (error) {
      this.log.warn(
        { err: error },
        'could not send idle times to hosts; they follow when the hosts announce themselves',
      );
    }
  }

  /** Returns those that differ from what a host has announced. */
  async differing(observed: readonly ObservedAgent[]): Promise<readonly WantedIdleTime[]> {
    const known = observed.filter(({ idleTtlSeconds }) => idleTtlSeconds !== undefined);
    if (known.length === 0) return [];
    return this.database.query<WantedIdleTime>(
      `SELECT seen.id AS "agentId", seen.epoch, ${IDLE_TIME_IN_FORCE('l')} AS "idleTtlSeconds"
       FROM unnest($1::text[], $2::integer[], $3::integer[]) AS seen(id, epoch, idle_ttl_seconds)
       JOIN agent_list l ON l.id = seen.id ${joinPolicy('l')}
       WHERE seen.idle_ttl_seconds <> ${IDLE_TIME_IN_FORCE('l')} LIMIT $4`,
      [
        known.map(({ agentId }) => agentId),
        known.map(({ epoch }) => epoch),
        known.map(({ idleTtlSeconds }) => idleTtlSeconds),
        AT_ONCE,
      ],
    );
  }

  private ofAgentsUp(concerned: Concerned): Promise<readonly (WantedIdleTime & { readonly host: string })[]> {
    const [whose, id] =
      'endUserId' in concerned
        ? ['l.end_user_id = $1', concerned.endUserId]
        : ['l.account_id = $1 AND l.end_user_id IS NOT NULL AND own.policy IS NULL', concerned.accountId];
    return this.database.query(
      `SELECT l.id AS "agentId", l.host, l.epoch, ${IDLE_TIME_IN_FORCE('l')} AS "idleTtlSeconds"
       FROM agent_list l ${joinPolicy('l')} WHERE ${whose} AND ${IS_UP} AND l.host IS NOT NULL`,
      [id],
    );
  }

  private async sendTo(
    host: string,
    agents: readonly (WantedIdleTime & { readonly host: string })[],
  ): Promise<void> {
    for (let from = 0; from < agents.length; from += AT_ONCE) {
      const some = agents
        .slice(from, from + AT_ONCE)
        .map(({ agentId, epoch, idleTtlSeconds }) => ({ agentId, epoch, idleTtlSeconds }));
      await this.requester.request(runtimeRequests.setIdleTimes, { agents: some }, { host });
    }
  }
}
