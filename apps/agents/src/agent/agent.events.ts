import type { EventCodec } from '@berth/event-store';
import type { AgentEvent } from './agent.js';

/** Every stored shape that may stand in a log. A changed shape is a `.v2` beside the old one, lifted below. */
const STORED_TYPES: ReadonlySet<string> = new Set<AgentEvent['type']>([
  'AgentCreated',
  'AgentCreationAbandoned',
  'AgentStarting',
  'AgentStarted',
  'AgentFellAsleep',
  'AgentStopping',
  'AgentStopped',
  'AgentFailed',
  'AgentDeletionRequested',
  'AgentDeleted',
]);

const isAgentEvent = (stored: { readonly type: string }): stored is AgentEvent =>
  STORED_TYPES.has(stored.type);

/** Streams `agent-agt_…`. */
export const agentCodec: EventCodec<AgentEvent> = {
  category: 'agent',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isAgentEvent(stored))
      throw new Error(`The agent stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};
