import { EventStreams, EventStore, SnapshotTable } from '@berth/event-store';
import type { Decider } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { evolveRow, type AgentRow } from '../agent-list/agent-row.js';
import type { AgentCommand } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import { agentCodec } from './agent.events.js';
import type { Agent, AgentEvent } from './agent.js';
import { SNAPSHOT_VERSIONS } from './snapshot-versions.js';

/** An agent and its row of the agent list, both folded from its events. */
export interface AgentWithRow {
  readonly agent: Agent;
  readonly row: AgentRow | null;
}

export const agentWithRowDecider: Decider<AgentWithRow, AgentCommand, AgentEvent> = {
  initial: { agent: agentDecider.initial, row: null },
  decide: (command, { agent }) => agentDecider.decide(command, agent),
  evolve: ({ agent, row }, event) => ({
    agent: agentDecider.evolve(agent, event),
    row: evolveRow(row, event),
  }),
};

/** Loads the streams `agent-agt_…` and appends the events that their decider decides. */
@Injectable()
export class AgentStreams extends EventStreams<AgentWithRow, AgentCommand, AgentEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super({
      store,
      decider: agentWithRowDecider,
      codec: agentCodec,
      cacheSize: 5_000,
      snapshots: { table: snapshots, version: SNAPSHOT_VERSIONS.agent },
    });
  }
}
