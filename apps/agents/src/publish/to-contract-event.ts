import { agentsEvents, type AgentLifecycleEvent, type AgentState } from '@berth/contracts/agents';
import type { RecordedEvent } from '@berth/event-store';
import { contractEvent, type ContractEvent, type EventDefinition } from '@berth/kernel';
import { agentCodec } from '../agent/agent.events.js';
import type { AgentEvent } from '../agent/agent.js';

/** The events of the private log that other services may receive. */
const PUBLISHED: {
  readonly [Type in AgentEvent['type']]?: {
    readonly event: EventDefinition<AgentLifecycleEvent>;
    readonly state: AgentState;
  };
} = {
  'AgentCreated.v3': { event: agentsEvents.created, state: 'deploying' },
  AgentStarted: { event: agentsEvents.started, state: 'running' },
  AgentFellAsleep: { event: agentsEvents.fellAsleep, state: 'sleeping' },
  AgentStopped: { event: agentsEvents.stopped, state: 'stopped' },
  AgentFailed: { event: agentsEvents.failed, state: 'failed' },
  AgentDeletionRequested: { event: agentsEvents.deleted, state: 'deleting' },
};

/** Returns the public form of a stored event; null when the event is private. */
export const toContractEvent = (recorded: RecordedEvent): ContractEvent<AgentLifecycleEvent> | null => {
  const event = agentCodec.fromStored(recorded);
  const published = PUBLISHED[event.type];
  if (published === undefined) return null;
  const { agentId, at } = event.data;
  const { accountId, actor } = recorded.metadata;
  const creation =
    event.type === 'AgentCreated.v3'
      ? { endUserId: event.data.personal.endUserId, createdBy: actor }
      : { endUserId: null };
  return contractEvent(
    published.event,
    { accountId, subjectId: agentId },
    {
      agentId,
      accountId,
      externalUserId: null,
      ...creation,
      state: published.state,
      epoch: 'epoch' in event.data ? event.data.epoch : 0,
      at,
    },
  );
};
