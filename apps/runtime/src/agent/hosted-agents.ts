import {
  boxOwner,
  type AgentEpoch,
  type IdleTime,
  type ObservedAgent,
  type StartAgent,
  type StartedAgent,
} from '@berth/contracts/runtime';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Driver } from '../driver/driver.js';
import { SystemLog } from '../logs/system-log.js';
import { AgentReports } from '../report/agent-reports.js';
import { AgentRecords, blankRecord } from './agent-record.js';
import { agentNotOnHost } from './agent-refusals.js';
import { AgentStarter } from './agent-starter.js';
import type { HostedAgentDeps } from './hosted-agent-deps.js';
import { HostedAgent } from './hosted-agent.js';
import { planBoxes, type BoxAction } from './reconcile-boxes.plan.js';

/** Number of removed agents to remember, so that a late start does not recreate one. */
const REMEMBERED_REMOVALS = 10_000;

/** All agents that are or were on this host. */
@Injectable()
export class HostedAgents implements OnModuleInit {
  readonly #agents = new Map<string, HostedAgent>();
  readonly #removed = new Set<string>();
  /** The agents whose removal has begun; it is retried until it succeeds. */
  readonly #leaving = new Set<string>();
  readonly #beforeRemoval: ((agentId: string) => Promise<void>)[] = [];
  private readonly deps: HostedAgentDeps;
  #closing = false;

  constructor(
    driver: Driver,
    starter: AgentStarter,
    records: AgentRecords,
    systemLog: SystemLog,
    { observations, activities, polls }: AgentReports,
    log: Logger,
  ) {
    this.deps = { driver, starter, records, systemLog, observations, activities, polls, log };
  }

  onModuleInit(): Promise<void> {
    return this.open();
  }

  /** Takes over the boxes that an earlier process of this host left, and ends those that must not exist. */
  async open(): Promise<void> {
    const records = await this.deps.records.readAll();
    for (const record of records) {
      this.#agents.set(record.agentId, new HostedAgent(record, this.deps));
    }
    const actions = planBoxes(records, await this.deps.driver.list());
    await Promise.all(actions.map((action) => this.#carryOut(action)));
  }

  start(request: StartAgent): Promise<StartedAgent> {
    return this.of(request.agentId).start(request);
  }

  /** The agent, known or not. Errors: not_found `agent_not_on_host` for a removed agent or an invalid id. */
  of(agentId: string): HostedAgent {
    const existing = this.#agents.get(agentId);
    if (existing !== undefined) return existing;
    // The id becomes part of folder and cgroup names.
    if (this.#closing || this.#removed.has(agentId) || boxOwner(agentId) === undefined)
      throw agentNotOnHost();
    const agent = new HostedAgent(blankRecord(agentId), this.deps);
    this.#agents.set(agentId, agent);
    return agent;
  }

  /** Ignores an agent that this host does not have at that epoch. */
  setIdleTime(time: IdleTime): void {
    this.#agents.get(time.agentId)?.setIdleTime(time);
  }

  /** Calls `work` before an agent is removed; the removal waits for it. */
  beforeRemoval(work: (agentId: string) => Promise<void>): void {
    this.#beforeRemoval.push(work);
  }

  /** Whether the agent is removed, or its removal has begun. */
  isLeaving(agentId: string): boolean {
    return this.#leaving.has(agentId) || this.#removed.has(agentId);
  }

  async remove(agentId: string): Promise<void> {
    if (this.#removed.has(agentId) || boxOwner(agentId) === undefined) return;
    this.#leaving.add(agentId);
    await Promise.all(this.#beforeRemoval.map((work) => work(agentId)));
    await this.of(agentId).remove();
    this.#agents.delete(agentId);
    this.#removed.add(agentId);
    this.#leaving.delete(agentId);
    for (const oldest of this.#removed) {
      if (this.#removed.size <= REMEMBERED_REMOVALS) break;
      this.#removed.delete(oldest);
    }
  }

  /** The agents that are starting, running or frozen. */
  get observed(): readonly ObservedAgent[] {
    return [...this.#agents.values()].flatMap((agent) => agent.observed ?? []);
  }

  /** Like `endAll`; from then on the host has no agents but those that it knows. */
  shutDown(graceMs: number): Promise<readonly AgentEpoch[]> {
    this.#closing = true;
    return this.endAll(graceMs);
  }

  /** Ends all agents in parallel; returns those that were up, with their epochs. Their volumes stay. */
  async endAll(graceMs: number): Promise<readonly AgentEpoch[]> {
    const ended = await Promise.all(
      [...this.#agents.values()].map(async (agent) => {
        const epoch = await agent.shutDown(graceMs).catch((error: unknown) => {
          this.deps.log.error({ agentId: agent.agentId, err: error }, 'could not end an agent');
          return null;
        });
        return epoch === null ? [] : [{ agentId: agent.agentId, epoch }];
      }),
    );
    return ended.flat();
  }

  async #carryOut(action: BoxAction): Promise<void> {
    const { driver, log } = this.deps;
    const { agentId, type } = action;
    if (type === 'stop') log.info({ agentId, reason: action.reason }, 'ending a box that must not exist');
    const agent = this.#agents.get(agentId);
    if (agent === undefined) await driver.stop(agentId, 0);
    else await agent.settleBox(type === 'adopt');
  }
}
