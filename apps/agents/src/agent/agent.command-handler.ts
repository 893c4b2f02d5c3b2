import { EventStore, streamName, type ProjectionRunner, type RecordedEvent } from '@berth/event-store';
import { fold, type Actor } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { AGENT_LIST } from '../agent-list/agent-list.projection.js';
import type { AgentCommand } from './agent.commands.js';
import { agentCodec, isCreation } from './agent.events.js';
import type { Agent, AgentEvent } from './agent.js';
import { AgentStreams, agentWithRowDecider, type AgentWithRow } from './agent.streams.js';

/** The sender of a command and the command's id; a command with the same `commandId` is executed once. */
export interface CommandOrigin {
  readonly commandId: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/** The origin of a command that the service gives to itself, after a host's report or by a timer. */
export const systemOrigin = (accountId: string, commandId: string): CommandOrigin => ({
  commandId,
  accountId,
  actor: { kind: 'system', id: 'agents' },
});

/** Executes commands on agents, and waits (bounded) until the agent list shows the result. */
@Injectable()
export class AgentCommandHandler {
  constructor(
    private readonly streams: AgentStreams,
    private readonly store: EventStore,
    @InjectProjection(AGENT_LIST) private readonly agentList: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  async load(agentId: string): Promise<Agent> {
    return (await this.streams.load(agentId)).state.agent;
  }

  /** The agent as this process knows it, if it does; other processes may have changed it since. */
  known(agentId: string): Agent | undefined {
    return this.streams.known(agentId)?.agent;
  }

  /** Returns the agent with its row, both folded from the log, even if the agent list lags. */
  async loadWithRow(agentId: string): Promise<AgentWithRow> {
    return (await this.streams.load(agentId)).state;
  }

  /** Returns the agent as its creation wrote it, even if it has changed or was deleted since; null when it was never created. */
  async loadFirst(agentId: string, shownWithinMs?: number): Promise<AgentWithRow | null> {
    const recorded = await this.store.read(streamName(agentCodec.category, agentId));
    const created = recorded.find(isCreation);
    if (created === undefined) return null;
    const creation = recorded.filter(({ metadata }) => metadata.causationId === created.metadata.causationId);
    const last = creation.at(-1);
    if (last !== undefined) await this.agentList.waitFor(last.position, shownWithinMs);
    return foldOf(creation);
  }

  async handle(agentId: string, command: AgentCommand, origin: CommandOrigin): Promise<Agent> {
    return (await this.decide(agentId, command, origin)).agent;
  }

  /**
   * Like `handle`, with the command's events; `isFirst` is true if this call appended them. `shownWithinMs`: how long to
   * wait for the agent list, two seconds by default.
   */
  async decide(
    agentId: string,
    command: AgentCommand,
    origin: CommandOrigin,
    shownWithinMs?: number,
  ): Promise<AgentWithRow & { readonly events: readonly AgentEvent[]; readonly isFirst: boolean }> {
    const { state, events, position, replayed } = await this.streams.handle(agentId, command, origin);
    // `waitFor` gives up then, and counts it; the result is returned anyway.
    if (position !== null) await this.agentList.waitFor(position, shownWithinMs);
    return { ...state, events, isFirst: position !== null && !replayed };
  }
}

const foldOf = (recorded: readonly RecordedEvent[]): AgentWithRow =>
  fold(
    agentWithRowDecider,
    recorded.map((event) => agentCodec.fromStored(event)),
  );
