import { pause, type SqlRunner } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { systemOrigin, type AgentCommandHandler } from '../agent/agent.command-handler.js';
import type { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { AgentCreation } from '../agent/create-agent.js';
import type { HostDirectory } from '../host/host-directory.js';
import type { Placement } from '../host/placement.js';
import { AgentWork } from './agent-work.js';

const TICK_MS = 1_000;
/** A transition is first carried by whoever decided it; only what is left lying is picked up here. */
const LEFT_LYING_SECONDS = 3;
/** What hosts carry out takes up to a minute each; one that just came back is not asked for a thousand starts at once. */
const CARRYING = { atOnce: 200, atOnceForHost: 20 };
/** What is decided in the log alone. */
const DECIDING = { atOnce: 100, atOnceForHost: 100 };
const SETTLE_MS = 2_000;

/** What the timers work with. */
export interface ReconcilerParts {
  readonly agents: AgentCommandHandler;
  readonly lifecycle: AgentLifecycle;
  readonly creation: AgentCreation;
  readonly hosts: HostDirectory;
  readonly placement: Placement;
  readonly database: SqlRunner;
  readonly log: Logger;
  readonly warmSleepSeconds: number;
}

interface FoundAgent {
  readonly id: string;
  readonly host: string | null;
}

/**
 * What time does to agents, derived from their state on every tick: transitions left lying are carried on,
 * overdue ones fail, warm sleep gets cold, agents of a lost host are failed, creations left behind are abandoned. No
 * tick waits for what an earlier one began. One process of the cluster runs it; a second one would do no harm, for every
 * decision carries the epoch it was made for.
 */
export class AgentReconciler {
  readonly #deciding: AgentWork;
  readonly #carrying: AgentWork;

  constructor(private readonly parts: ReconcilerParts) {
    this.#deciding = new AgentWork(DECIDING, parts.log);
    this.#carrying = new AgentWork(CARRYING, parts.log);
  }

  async run(signal: AbortSignal): Promise<void> {
    const listeningSince = Date.now();
    while (!signal.aborted) {
      await this.tick(listeningSince);
      await pause(TICK_MS, signal);
    }
    await Promise.all([this.#deciding.settle(SETTLE_MS), this.#carrying.settle(SETTLE_MS)]);
  }

  /** Begins what is to be done; a question that fails keeps none of the others. */
  private async tick(listeningSince: number): Promise<void> {
    const looks = [
      this.failOverdue(),
      this.carryOn(),
      this.cool(),
      this.loseAgents(listeningSince),
      this.abandonCreations(),
    ];
    for (const look of await Promise.allSettled(looks))
      if (look.status === 'rejected')
        this.parts.log.warn({ err: look.reason as unknown }, 'the timers could not look at agents');
  }

  private async failOverdue(): Promise<void> {
    const rows = await this.parts.database.query<FoundAgent>(
      `SELECT id, host FROM agent_list
       WHERE state IN ('deploying', 'starting', 'stopping') AND deadline_at < now() AND id <> ALL($1)
       ORDER BY state_changed_at LIMIT ${String(DECIDING.atOnce)}`,
      [this.#deciding.agentIds],
    );
    for (const { id, host } of rows) this.#deciding.begin(id, host, () => this.failTransition(id));
  }

  private async carryOn(): Promise<void> {
    const rows = await this.parts.database.query<FoundAgent>(
      `SELECT id, host FROM (
         SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY random()) AS place FROM agent_list
         WHERE state IN ('deploying', 'starting', 'stopping', 'deleting')
           AND state_changed_at < now() - make_interval(secs => $1) AND id <> ALL($2)
       ) AS lying WHERE place <= ${String(CARRYING.atOnceForHost)} ORDER BY random()`,
      [LEFT_LYING_SECONDS, this.#carrying.agentIds],
    );
    for (const { id, host } of rows)
      this.#carrying.begin(id, host, async () => {
        await this.parts.lifecycle.drive(id);
      });
  }

  private async cool(): Promise<void> {
    const rows = await this.parts.database.query<FoundAgent>(
      `SELECT id, host FROM (
         SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY state_changed_at) AS place FROM agent_list
         WHERE sleep_depth = 'warm' AND state_changed_at <= now() - make_interval(secs => $1) AND id <> ALL($2)
       ) AS warm WHERE place <= ${String(CARRYING.atOnceForHost)} ORDER BY place`,
      [this.parts.warmSleepSeconds, this.#carrying.agentIds],
    );
    for (const { id, host } of rows)
      this.#carrying.begin(id, host, async () => {
        const agent = await this.parts.agents.load(id);
        if (agent.status === 'live') await this.parts.lifecycle.cool(agent);
      });
  }

  private async loseAgents(listeningSince: number): Promise<void> {
    for (const host of await this.parts.hosts.lost(listeningSince)) {
      const rows = await this.parts.database.query<{ id: string }>(
        `SELECT id FROM agent_list WHERE host = $1 AND state = 'running' AND id <> ALL($2)
         LIMIT ${String(DECIDING.atOnce)}`,
        [host, this.#deciding.agentIds],
      );
      for (const { id } of rows) this.#deciding.begin(id, host, () => this.loseHost(id));
    }
  }

  private async abandonCreations(): Promise<void> {
    for (const { agent_id, account_id } of await this.parts.placement.overdue(DECIDING.atOnce))
      this.#deciding.begin(agent_id, null, () => this.parts.creation.settleOverdue(agent_id, account_id));
  }

  private async failTransition(agentId: string): Promise<void> {
    const agent = await this.parts.agents.load(agentId);
    if (
      agent.status !== 'live' ||
      !('deadline' in agent.life) ||
      Date.parse(agent.life.deadline) > Date.now()
    )
      return;
    const { state } = agent.life;
    const origin = systemOrigin(agent.profile.accountId, `${agentId}/${String(agent.epoch)}/overdue`);
    const message = `The agent was ${state} for too long.`;
    const at = new Date().toISOString();
    await this.parts.agents.handle(
      agentId,
      { type: 'FailTransition', epoch: agent.epoch, code: `${state}_timed_out`, message, at },
      origin,
    );
  }

  private async loseHost(agentId: string): Promise<void> {
    const agent = await this.parts.agents.load(agentId);
    if (agent.status !== 'live') return;
    const origin = systemOrigin(
      agent.profile.accountId,
      `${agentId}/${String(agent.epoch)}/${agent.since}/host-lost`,
    );
    await this.parts.agents.handle(agentId, { type: 'LoseHost', at: new Date().toISOString() }, origin);
  }
}
