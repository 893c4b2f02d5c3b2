import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Reconciler } from '../timers/reconciler.js';
import { RunningExecutionsQuery } from '../timers/running-executions.query.js';
import { AgentEndings } from './agent-endings.js';

const AT_ONCE = 1_000;

/**
 * `evt.agents.*`: what ran in a epoch of an agent ends with it. Remembers up to which epoch that is so, and has the
 * agent's executions settled at once; what cannot be settled yet is the reconciler's.
 */
@ConsumeEvents({
  context: 'agents',
  durable: 'exec__agent-ends',
  filterSubjects: [
    'evt.agents.started.v1.>',
    'evt.agents.fell-asleep.v1.>',
    'evt.agents.stopped.v1.>',
    'evt.agents.failed.v1.>',
    'evt.agents.deleted.v1.>',
  ],
})
@Injectable()
export class EndExecutionsWhenAgentEnds implements EventReaction {
  constructor(
    private readonly endings: AgentEndings,
    private readonly running: RunningExecutionsQuery,
    private readonly reconciler: Reconciler,
    private readonly log: Logger,
  ) {}

  /** An event that is older than what is remembered changes nothing, and so does the same one again. */
  async handle(event: ReceivedEvent, tx: SqlRunner): Promise<void> {
    const { agentId, at } = event.payload;
    const epoch = endedEpoch(event);
    if (typeof agentId !== 'string' || typeof at !== 'string' || epoch === null)
      throw new Error('The event names no agent and epoch.');
    await this.endings.remember(tx, { agentId, epoch, position: event.position, at });
    this.settle(agentId, epoch).catch((error: unknown) =>
      this.log.warn({ err: error, agentId }, "an agent's executions are settled later"),
    );
  }

  /** The log was replaced or restored. */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.endings.forgetAfter(tx, position);
  }

  private async settle(agentId: string, epoch: number): Promise<void> {
    const rows = await this.running.ofAgent(agentId, epoch, AT_ONCE);
    await this.reconciler.settleAll(rows);
  }
}

/** The last epoch whose executions cannot run any more; null when the event does not say. */
const endedEpoch = ({ name, payload }: ReceivedEvent): number | null => {
  if (name === 'deleted') return Number.MAX_SAFE_INTEGER;
  const { epoch } = payload;
  if (typeof epoch !== 'number') return null;
  // A host that was taken for lost may be back with the agent as it was.
  return name === 'started' ? epoch - 1 : epoch;
};
