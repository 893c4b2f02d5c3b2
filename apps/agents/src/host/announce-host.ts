import type { AnnounceHost, HostOrders, ObservedAgent } from '@berth/contracts/agents';
import { EventStore } from '@berth/event-store';
import { DomainError } from '@berth/kernel';
import { logIdentity } from '@berth/messaging';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { AgentCommandHandler, systemOrigin, type CommandOrigin } from '../agent/agent.command-handler.js';
import { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { LiveAgent } from '../agent/agent.js';
import { HostDirectory } from './host-directory.js';
import { Placement } from './placement.js';

/** A change this recent is left for the host's next announcement: the host may have listed its agents before it. */
const YOUNG_MS = 15_000;

interface HostedRow {
  readonly id: string;
  readonly state: string;
  readonly sleep_depth: string | null;
  readonly state_reason: string | null;
  readonly state_changed_at: Date;
}

/** Compares the agents of a host with those that it should have according to the log, and settles the differences. */
@Injectable()
export class AnnounceHostHandler {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly hosts: HostDirectory,
    private readonly placement: Placement,
    @Inject(Database) private readonly database: SqlRunner,
    private readonly store: EventStore,
  ) {}

  /** Returns the agents that the host must remove, and those that it must stop. Errors: conflict `other_event_log`. */
  async handle(announcement: AnnounceHost): Promise<HostOrders> {
    const { host, incarnation, freeMemMb, agents } = announcement;
    const logId = await this.requireSameLog(announcement);
    const { restarted } = await this.hosts.seen(host, incarnation, freeMemMb);
    // An agent that is starting has not taken its memory yet.
    const reported = agents.filter(({ state }) => state !== 'starting');
    await this.placement.reported(
      host,
      reported.map(({ agentId }) => agentId),
    );
    const result = { remove: [] as string[], stop: [] as string[] };
    for (const observed of agents) await this.compare(host, observed, result);
    await this.settleAbsent(announcement, restarted);
    return { ...result, logId };
  }

  /** A host of another installation would lose all of its agents, because this log knows none of them. */
  private async requireSameLog({ host, logId }: AnnounceHost): Promise<string> {
    const own = await logIdentity(this.store);
    if ((logId ?? own) === own) return own;
    throw new DomainError(
      'conflict',
      'other_event_log',
      `The agents of ${host} belong to an installation with another event log.`,
    );
  }

  private async compare(
    host: string,
    observed: ObservedAgent,
    result: { remove: string[]; stop: string[] },
  ): Promise<void> {
    const { agentId, epoch } = observed;
    const agent = await this.agents.load(agentId);
    if (agent.status === 'deleting') return void this.lifecycle.drive(agentId);
    if (agent.status !== 'live' || agent.host !== host) {
      result.remove.push(agentId);
      return;
    }
    if (epoch > agent.epoch) return;
    const { state } = agent.life;
    const cold = state === 'stopped' || (state === 'sleeping' && agent.life.depth === 'cold');
    const dead = state === 'failed' && agent.life.code !== 'host_lost';
    if (cold || dead) {
      result.stop.push(agentId);
      return;
    }
    const at = new Date().toISOString();
    const frozen = observed.state === 'frozen';
    await this.agents.handle(
      agentId,
      { type: 'SettlePresence', epoch, frozen, at },
      origin(agent, `found/${observed.state}`),
    );
  }

  /** Settles agents that should be awake or frozen on the host and are not. */
  private async settleAbsent(announcement: AnnounceHost, restarted: boolean): Promise<void> {
    const present = new Set(announcement.agents.map((agent) => agent.agentId));
    const rows = await this.database.query<HostedRow>(
      `SELECT id, state, sleep_depth, state_reason, state_changed_at FROM agent_list
       WHERE host = $1 AND (state = 'running' OR sleep_depth = 'warm'
         OR (state = 'failed' AND state_reason = 'host_lost')
         OR (state = 'sleeping' AND state_reason = 'host_shutdown' AND idle_ttl_seconds = 0))`,
      [announcement.host],
    );
    for (const row of rows) {
      const young = Date.now() - row.state_changed_at.getTime() < YOUNG_MS;
      if (present.has(row.id) || (young && !restarted)) continue;
      await this.settle(row.id);
    }
  }

  private async settle(agentId: string): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live') return;
    const { epoch } = agent;
    await this.agents.handle(
      agentId,
      { type: 'SettleAbsence', epoch, at: new Date().toISOString() },
      origin(agent, 'absent'),
    );
    // The reconciler continues a transition that fails now.
    void this.lifecycle.drive(agentId);
  }
}

const origin = (agent: LiveAgent, what: string): CommandOrigin =>
  systemOrigin(agent.profile.accountId, `${agent.agentId}/${String(agent.epoch)}/${agent.since}/${what}`);
