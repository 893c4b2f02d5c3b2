import type { AgentEventName, AgentLifecycleEvent, AgentState } from '@berth/contracts/agents';
import type { RecordedEvent } from '@berth/event-store';
import { agentCodec } from '../agent/agent.events.js';
import type { AgentEvent } from '../agent/agent.js';

/** The events of the private log that other services may receive. */
const PUBLISHED: {
  readonly [Type in AgentEvent['type']]?: { readonly name: AgentEventName; readonly state: AgentState };
} = {
  'AgentCreated.v2': { name: 'created', state: 'deploying' },
  AgentStarted: { name: 'started', state: 'running' },
  AgentFellAsleep: { name: 'fell-asleep', state: 'sleeping' },
  AgentStopped: { name: 'stopped', state: 'stopped' },
  AgentFailed: { name: 'failed', state: 'failed' },
  AgentDeletionRequested: { name: 'deleted', state: 'deleting' },
};

/** Returns the public form of a stored event; null when the event is private. */
export const toContractEvent = (
  recorded: RecordedEvent,
): { subject: string; payload: AgentLifecycleEvent } | null => {
  const event = agentCodec.fromStored(recorded);
  const published = PUBLISHED[event.type];
  if (published === undefined) return null;
  const { agentId, at } = event.data;
  const { accountId } = recorded.metadata;
  return {
    subject: `evt.agents.${published.name}.v1.${accountId}.${agentId}`,
    payload: {
      agentId,
      accountId,
      externalUserId: event.type === 'AgentCreated.v2' ? event.data.externalUserId : null,
      state: published.state,
      epoch: 'epoch' in event.data ? event.data.epoch : 0,
      at,
    },
  };
};
