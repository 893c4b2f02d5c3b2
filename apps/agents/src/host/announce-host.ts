import { detach } from '@berth/kernel';
import type { AnnounceHost, HostOrders, ObservedAgent } from '@berth/contracts/hosting';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { AgentCommandHandler, systemOrigin, type CommandOrigin } from '../agent/agent.command-handler.js';
import { beforeLoss } from '../agent/decide-lost.js';
import { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { LiveAgent } from '../agent/agent.js';
import { IdleTimes } from '../policy/idle-times.js';
import { IDLE_TIME_IN_FORCE, joinPolicy } from '../policy/policies.js';
import type { Sighting } from './host-directory.js';
import { HostRegistration } from './host-registration.js';

/** A change this recent is left for the host's next announcement: the host may have listed its agents before it. */
const YOUNG_MS = 15_000;

/** A host that returns after a loss may have thousands of agents; its announcement times out after 30 s. */
const SETTLE_MS = 15_000;
const SETTLED_AT_ONCE = 50;

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
    private readonly registration: HostRegistration,
    private readonly idleTimes: IdleTimes,
    @Inject(Database) private readonly database: SqlRunner,
  ) {}

  /**
   * Returns the agents that the host must remove, those that it must stop, and the idle times that it must change. Errors:
   * conflict `other_event_log`, `host_removed`.
   */
  async handle(announcement: AnnounceHost): Promise<HostOrders> {
    const { host, agents } = announcement;
    const { logId, ...sighting } = await this.registration.register(announcement);
    const result = { remove: [] as string[], stop: [] as string[] };
    for (const observed of agents) await this.compare(host, observed, result);
    await this.settleAbsent(announcement, sighting);
    return { ...result, idleTimes: await this.idleTimes.differing(agents), logId };
  }

  private async compare(
    host: string,
    observed: ObservedAgent,
    result: { remove: string[]; stop: string[] },
  ): Promise<void> {
    const { agentId, epoch } = observed;
    const agent = await this.agents.load(agentId);
    if (agent.status === 'deleting') {
      detach(this.lifecycle.drive(agentId));
      return;
    }
    if (agent.status !== 'live' || agent.host !== host) {
      result.remove.push(agentId);
      return;
    }
    if (epoch > agent.epoch) return;
    const life = beforeLoss(agent) ?? agent.life;
    const cold = life.state === 'stopped' || (life.state === 'sleeping' && life.depth === 'cold');
    if (cold || life.state === 'failed') {
      result.stop.push(agentId);
      return;
    }
    const at = new Date().toISOString();
    const frozen = observed.state === 'frozen';
    const settled = await this.agents.handle(
      agentId,
      { type: 'SettlePresence', epoch, frozen, at },
      origin(agent, `found/${observed.state}`),
    );
    if (settled.status === 'live' && settled.life.state !== agent.life.state)
      detach(this.lifecycle.drive(agentId));
  }

  /** Settles agents that should be awake or frozen on the host and are not. */
  private async settleAbsent(announcement: AnnounceHost, { restarted, seenAt }: Sighting): Promise<void> {
    const present = new Set(announcement.agents.map((agent) => agent.agentId));
    const rows = await this.database.query<HostedRow>(
      `SELECT id, state, sleep_depth, state_reason, state_changed_at FROM agent_list l ${joinPolicy('l')}
       WHERE host = $1 AND (state = 'running' OR sleep_depth = 'warm'
         OR (state = 'failed' AND state_reason = 'host_lost')
         OR (state = 'sleeping' AND state_reason = 'host_shutdown' AND ${IDLE_TIME_IN_FORCE('l')} = 0))`,
      [announcement.host],
    );
    const absent: string[] = [];
    for (const row of rows) {
      // A lost host got no orders since, so what it lists is not older than the state.
      const young =
        row.state_reason !== 'host_lost' && Date.now() - row.state_changed_at.getTime() < YOUNG_MS;
      if (present.has(row.id) || (young && !restarted)) continue;
      absent.push(row.id);
    }
    const end = Date.now() + SETTLE_MS;
    // Those that are left over are settled at the next announcement.
    while (absent.length > 0 && Date.now() < end)
      await Promise.all(absent.splice(0, SETTLED_AT_ONCE).map((agentId) => this.settle(agentId, seenAt)));
  }

  private async settle(agentId: string, seenAt: string | null): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live') return;
    const { epoch } = agent;
    const alwaysOn = (await this.idleTimes.inForce(agent)) === 0;
    await this.agents.handle(
      agentId,
      {
        ...{ type: 'SettleAbsence', epoch, alwaysOn, at: new Date().toISOString() },
        ...(seenAt === null ? {} : { seenAt }),
      },
      origin(agent, 'absent'),
    );
    // The reconciler continues a transition that fails now.
    detach(this.lifecycle.drive(agentId));
  }
}

const origin = (agent: LiveAgent, what: string): CommandOrigin =>
  systemOrigin(agent.profile.accountId, `${agent.agentId}/${String(agent.epoch)}/${agent.since}/${what}`);
