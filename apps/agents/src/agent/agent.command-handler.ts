import { CommandHandler, streamName, type ProjectionRunner, type RecordedEvent } from '@berth/event-store';
import { fold, type Actor, type Decider } from '@berth/kernel';
import { evolveRow, type AgentRow } from '../agent-list/agent-row.js';
import { SNAPSHOT_VERSIONS, type AgentStreams } from './agent-streams.js';
import type { AgentCommand } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import { agentCodec, isCreation } from './agent.events.js';
import type { Agent, AgentEvent } from './agent.js';

/** Who a command is from and what it is called: the same `commandId` acts once. */
export interface CommandOrigin {
  readonly commandId: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/** Commands that the service gives itself: what a host reported, what a timer found. */
export const systemOrigin = (accountId: string, commandId: string): CommandOrigin => ({
  commandId,
  accountId,
  actor: { kind: 'system', id: 'agents' },
});

/** An agent with the row that the list shows of it, both folded from its events. */
export interface ShownAgent {
  readonly agent: Agent;
  readonly row: AgentRow | null;
}

export const shownDecider: Decider<ShownAgent, AgentCommand, AgentEvent> = {
  initial: { agent: agentDecider.initial, row: null },
  decide: (command, { agent }) => agentDecider.decide(command, agent),
  evolve: ({ agent, row }, event) => ({
    agent: agentDecider.evolve(agent, event),
    row: evolveRow(row, event),
  }),
};

/** Decides about one agent, and waits (bounded) until the agent list shows what was decided. */
export class AgentCommandHandler {
  private readonly handler: CommandHandler<ShownAgent, AgentCommand, AgentEvent>;

  constructor(
    private readonly streams: AgentStreams,
    private readonly agentList: Pick<ProjectionRunner, 'waitFor'>,
  ) {
    this.handler = new CommandHandler({
      store: streams.store,
      decider: shownDecider,
      codec: agentCodec,
      cacheSize: 5_000,
      snapshots: { table: streams.snapshots, version: SNAPSHOT_VERSIONS.agent },
    });
  }

  async load(agentId: string): Promise<Agent> {
    return (await this.handler.load(agentId)).state.agent;
  }

  /** The agent's row as its log has it, however far the agent list is; null when there is no agent. */
  async loadRow(agentId: string): Promise<AgentRow | null> {
    return (await this.handler.load(agentId)).state.row;
  }

  /** The row as the creation decided it, also when the agent has changed or is gone since; null when there was none. */
  async loadFirstRow(agentId: string): Promise<AgentRow | null> {
    const recorded = await this.streams.store.read(streamName(agentCodec.category, agentId));
    const created = recorded.find(isCreation);
    if (created === undefined) return null;
    const creation = recorded.filter(({ metadata }) => metadata.causationId === created.metadata.causationId);
    const last = creation.at(-1);
    if (last !== undefined) await this.agentList.waitFor(last.position);
    return rowOf(creation);
  }

  async handle(agentId: string, command: AgentCommand, origin: CommandOrigin): Promise<Agent> {
    return (await this.decide(agentId, command, origin)).agent;
  }

  /** As `handle`; `isFirst` when this very call wrote what the command causes. */
  async decide(
    agentId: string,
    command: AgentCommand,
    origin: CommandOrigin,
  ): Promise<ShownAgent & { readonly isFirst: boolean }> {
    const { state, position, replayed } = await this.handler.handle(agentId, command, origin);
    // Past two seconds the answer is given anyway; the projection counts it.
    if (position !== null) await this.agentList.waitFor(position);
    return { ...state, isFirst: position !== null && !replayed };
  }
}

const rowOf = (recorded: readonly RecordedEvent[]): AgentRow | null =>
  fold(
    shownDecider,
    recorded.map((event) => agentCodec.fromStored(event)),
  ).row;
