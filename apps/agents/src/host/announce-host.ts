import type { AnnounceHost, HostOrders, ObservedAgent } from '@berth/contracts/agents';
import type { EventStore } from '@berth/event-store';
import { DomainError } from '@berth/kernel';
import { logIdentity } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import {
  systemOrigin,
  type AgentCommandHandler,
  type CommandOrigin,
} from '../agent/agent.command-handler.js';
import type { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { LiveAgent } from '../agent/agent.js';
import type { HostDirectory } from './host-directory.js';
import type { Placement } from './placement.js';

/** A listing may have been made a moment before a start: what changed so lately is left for the next one. */
const YOUNG_MS = 15_000;

interface HostedRow {
  readonly id: string;
  readonly state: string;
  readonly sleep_depth: string | null;
  readonly state_reason: string | null;
  readonly state_changed_at: Date;
}

export interface AnnounceHostParts {
  readonly agents: AgentCommandHandler;
  readonly lifecycle: AgentLifecycle;
  readonly hosts: HostDirectory;
  readonly placement: Placement;
  readonly database: SqlRunner;
  readonly store: EventStore;
}

/** Compares what a host has with what the log says it should have, and settles the difference. */
export class AnnounceHostHandler {
  constructor(private readonly parts: AnnounceHostParts) {}

  /** Errors: conflict `other_event_log`. */
  async handle(announcement: AnnounceHost): Promise<HostOrders> {
    const { host, incarnation, freeMemMb, agents } = announcement;
    const logId = await this.requireSameLog(announcement);
    const { restarted } = await this.parts.hosts.seen(host, incarnation, freeMemMb);
    // One that is starting has not taken its memory yet.
    const reported = agents.filter(({ state }) => state !== 'starting');
    await this.parts.placement.reported(
      host,
      reported.map(({ agentId }) => agentId),
    );
    const answer = { remove: [] as string[], stop: [] as string[] };
    for (const observed of agents) await this.compare(host, observed, answer);
    await this.settleAbsent(announcement, restarted);
    return { ...answer, logId };
  }

  /** A host of another installation would lose all of its agents: this log knows none of them. */
  private async requireSameLog({ host, logId }: AnnounceHost): Promise<string> {
    const own = await logIdentity(this.parts.store);
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
    answer: { remove: string[]; stop: string[] },
  ): Promise<void> {
    const { agentId, epoch } = observed;
    const agent = await this.parts.agents.load(agentId);
    if (agent.status === 'deleting') return void this.parts.lifecycle.drive(agentId);
    if (agent.status !== 'live' || agent.host !== host) {
      answer.remove.push(agentId);
      return;
    }
    if (epoch > agent.epoch) return;
    const { state } = agent.life;
    const cold = state === 'stopped' || (state === 'sleeping' && agent.life.depth === 'cold');
    const dead = state === 'failed' && agent.life.code !== 'host_lost';
    if (cold || dead) {
      answer.stop.push(agentId);
      return;
    }
    const at = new Date().toISOString();
    const frozen = observed.state === 'frozen';
    await this.parts.agents.handle(
      agentId,
      { type: 'FindAgain', epoch, frozen, at },
      origin(agent, `found/${observed.state}`),
    );
  }

  /** Agents that should be awake or frozen there and are not. */
  private async settleAbsent(announcement: AnnounceHost, restarted: boolean): Promise<void> {
    const present = new Set(announcement.agents.map((agent) => agent.agentId));
    const rows = await this.parts.database.query<HostedRow>(
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
    const agent = await this.parts.agents.load(agentId);
    if (agent.status !== 'live') return;
    const { epoch } = agent;
    await this.parts.agents.handle(
      agentId,
      { type: 'SettleAbsence', epoch, at: new Date().toISOString() },
      origin(agent, 'absent'),
    );
    // What cannot be carried on now is met again by the timers.
    void this.parts.lifecycle.drive(agentId);
  }
}

const origin = (agent: LiveAgent, what: string): CommandOrigin =>
  systemOrigin(agent.profile.accountId, `${agent.agentId}/${String(agent.epoch)}/${agent.since}/${what}`);
