import { randomUUID } from 'node:crypto';
import type { EventStore, NewEvent, RecordedEvent } from '@berth/event-store';
import type { ContractEvent } from '@berth/kernel';

/** Returns a new event for the stream of `agent`. */
export const agentStarted = (agent: string, type = 'AgentStarted'): NewEvent => ({
  id: randomUUID(),
  type,
  data: { agentId: agent },
  metadata: {
    correlationId: `req-${agent}`,
    causationId: 'cmd_1',
    accountId: 'acc_1',
    actor: { kind: 'system', id: 'test' },
  },
});

/** Appends one event to each of `count` new streams `agent-<prefix><n>`; returns their ids in log order. */
export const appendAgents = async (store: EventStore, prefix: string, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const agent = `${prefix}${index}`;
    const event = agentStarted(agent);
    await store.append(`agent-${agent}`, [event], 'no_stream');
    ids.push(event.id);
  }
  return ids;
};

/** Publishes AgentStarted and AgentStopped, no other type. */
export const toContractEvent = (event: RecordedEvent): ContractEvent | null => {
  const name = { AgentStarted: 'started', AgentStopped: 'stopped' }[event.type];
  if (name === undefined) return null;
  const agentId = event.stream.slice('agent-'.length);
  return { subject: `evt.agents.${name}.v1.${event.metadata.accountId}.${agentId}`, payload: { agentId } };
};
