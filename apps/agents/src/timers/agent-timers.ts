import type { SqlRunner } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { systemOrigin, type AgentCommandHandler } from '../agent/agent.command-handler.js';
import type { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { Agent } from '../agent/agent.js';
import type { HostDirectory } from '../host/host-directory.js';

const TICK_MS = 1_000;
/** A transition is first carried by whoever decided it; only what is left lying is picked up here. */
const LEFT_LYING_SECONDS = 3;
/** So many at a time: a host that just came back is not asked for a thousand starts at once. */
const BATCH = 20;

export interface TimerOptions {
  readonly warmSleepSeconds: number;
}

/**
 * What time does to agents, derived from their state on every tick: transitions left lying are carried on,
 * overdue ones fail, warm sleep gets cold, agents of a lost host are failed. One process of the cluster
 * runs it; a second one would do no harm, for every decision carries the epoch it was made for.
 */
export class AgentTimers {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly hosts: HostDirectory,
    private readonly database: SqlRunner,
    private readonly options: TimerOptions,
    private readonly log: Logger,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    const listeningSince = Date.now();
    while (!signal.aborted) {
      await this.tick(listeningSince).catch((error: unknown) =>
        this.log.warn({ err: error }, 'a tick of the timers failed'),
      );
      await pause(TICK_MS, signal);
    }
  }

  private async tick(listeningSince: number): Promise<void> {
    await this.each(await this.overdue(), (agent, agentId) => this.failOverdue(agent, agentId));
    await this.each(await this.leftLying(), async (_, agentId) => {
      await this.lifecycle.drive(agentId);
    });
    await this.each(await this.warmTooLong(), async (agent) => {
      if (agent.status === 'live') await this.lifecycle.cool(agent);
    });
    for (const host of await this.hosts.lost(listeningSince)) await this.loseHost(host);
  }

  private overdue(): Promise<{ id: string }[]> {
    return this.database.query(
      `SELECT id FROM agent_list
       WHERE state IN ('deploying', 'starting', 'stopping') AND deadline_at < now() ORDER BY state_changed_at LIMIT ${String(BATCH)}`,
    );
  }

  private leftLying(): Promise<{ id: string }[]> {
    return this.database.query(
      `SELECT id FROM agent_list
       WHERE state IN ('deploying', 'starting', 'stopping', 'deleting') AND state_changed_at < now() - make_interval(secs => $1)
       ORDER BY random() LIMIT ${String(BATCH)}`,
      [LEFT_LYING_SECONDS],
    );
  }

  private warmTooLong(): Promise<{ id: string }[]> {
    return this.database.query(
      `SELECT id FROM agent_list
       WHERE sleep_depth = 'warm' AND state_changed_at <= now() - make_interval(secs => $1)
       ORDER BY state_changed_at LIMIT ${String(BATCH)}`,
      [this.options.warmSleepSeconds],
    );
  }

  private async failOverdue(agent: Agent, agentId: string): Promise<void> {
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
    await this.agents.handle(
      agentId,
      { type: 'FailTransition', epoch: agent.epoch, code: `${state}_timed_out`, message, at },
      origin,
    );
  }

  private async loseHost(host: string): Promise<void> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM agent_list WHERE host = $1 AND state = 'running' LIMIT 200`,
      [host],
    );
    await this.each(rows, async (agent, agentId) => {
      if (agent.status !== 'live') return;
      const origin = systemOrigin(
        agent.profile.accountId,
        `${agentId}/${String(agent.epoch)}/${agent.since}/host-lost`,
      );
      await this.agents.handle(agentId, { type: 'LoseHost', at: new Date().toISOString() }, origin);
    });
  }

  /** One agent's trouble keeps no other one waiting. */
  private async each(
    rows: readonly { id: string }[],
    act: (agent: Agent, agentId: string) => Promise<void>,
  ): Promise<void> {
    await Promise.all(
      rows.map(async ({ id }) => {
        try {
          await act(await this.agents.load(id), id);
        } catch (error) {
          this.log.warn({ agentId: id, err: error }, 'a timer could not act on the agent');
        }
      }),
    );
  }
}

const pause = (millis: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, millis);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
