import { agentsEvents, type AgentLifecycleEvent } from '@berth/contracts/agents';
import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { Reconciler } from '../timers/reconciler.js';
import { RunningExecutionsQuery } from '../timers/running-executions.query.js';
import { AgentEndings } from './agent-endings.js';

const AT_ONCE = 1_000;

/**
 * Executions end with the epoch in which they run. Stores the ended epoch and settles the agent's
 * executions at once; the reconciler settles the others later.
 */
@ConsumeEvents({
  context: 'agents',
  durable: 'exec__agent-ends',
  events: [
    agentsEvents.started,
    agentsEvents.fellAsleep,
    agentsEvents.stopped,
    agentsEvents.failed,
    agentsEvents.deleted,
  ],
})
@Injectable()
export class EndExecutionsWhenAgentEnds implements EventReaction<AgentLifecycleEvent> {
  constructor(
    private readonly endings: AgentEndings,
    private readonly running: RunningExecutionsQuery,
    private readonly reconciler: Reconciler,
    private readonly log: Logger,
  ) {}

  /** Ignores older and repeated events. */
  async handle(event: ReceivedEvent<AgentLifecycleEvent>, tx: SqlRunner): Promise<void> {
    const { agentId, at } = event.payload;
    const epoch = endedEpoch(event);
    await this.endings.remember(tx, { agentId, epoch, position: event.position, at });
    this.settle(agentId, epoch).catch((error: unknown) =>
      this.log.warn({ err: error, agentId }, "could not settle an agent's executions yet"),
    );
  }

  /** Call it when the log was replaced or restored. */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.endings.forgetAfter(tx, position);
  }

  private async settle(agentId: string, epoch: number): Promise<void> {
    const rows = await this.running.ofAgent(agentId, epoch, AT_ONCE);
    await this.reconciler.settleAll(rows);
  }
}

/** The last epoch whose executions can no longer run. */
const endedEpoch = ({ name, payload: { epoch } }: ReceivedEvent<AgentLifecycleEvent>): number => {
  if (name === agentsEvents.deleted.name) return Number.MAX_SAFE_INTEGER;
  // A host that counted as lost may have returned with the agent still running.
  return name === agentsEvents.started.name ? epoch - 1 : epoch;
};
