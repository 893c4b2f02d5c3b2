import type { EventCodec, EventData, StoredEvent } from '@berth/event-store';
import { templateSource } from './agent-source.js';
import type { AgentEvent } from './agent.js';

/** The event types that are stored today. A changed shape gets the suffix `.v2`; `fromStored` converts the earlier one. */
const STORED_TYPES: ReadonlySet<string> = new Set<AgentEvent['type']>([
  'AgentCreated.v2',
  'AgentCreationAbandoned',
  'AgentStarting.v2',
  'AgentStarted',
  'AgentFellAsleep',
  'AgentSleepRequested',
  'AgentStopping',
  'AgentStopped',
  'AgentFailed',
  'AgentRanOutOfMemory',
  'AgentVersionPrepared',
  'AgentVersionAdopted',
  'AgentVersionAbandoned',
  'AgentDeletionRequested',
  'AgentDeleted',
]);

const isAgentEvent = (stored: { readonly type: string }): stored is AgentEvent =>
  STORED_TYPES.has(stored.type);

/** Whether the event creates its agent, in any shape that was ever stored. */
export const isCreation = ({ type }: { readonly type: string }): boolean =>
  type === 'AgentCreated.v2' || type === 'AgentCreated';

/** Codec of the streams `agent-agt_…`. */
export const agentCodec: EventCodec<AgentEvent> = {
  category: 'agent',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    const current = upcast(stored);
    if (!isAgentEvent(current))
      throw new Error(`The agent stream holds an event of unknown type ${stored.type}.`);
    return current;
  },
};

const upcast = (stored: StoredEvent): StoredEvent => {
  if (stored.type === 'AgentCreated') return withSource(stored.data);
  // Before there were deployments, every agent had one version.
  if (stored.type === 'AgentStarting')
    return { type: 'AgentStarting.v2', data: { ...stored.data, version: 1 } };
  return stored;
};

/** Before sources had versions, every agent ran its template. */
const withSource = (data: EventData): StoredEvent => ({
  type: 'AgentCreated.v2',
  data: { ...data, source: templateSource(String(data['templateId'])) },
});
