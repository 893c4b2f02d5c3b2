import type { EventCodec, EventData, StoredEvent } from '@berth/event-store';
import { templateSource } from './agent-source.js';
import type { AgentEvent } from './agent.js';

/** The event types that are stored today. A changed shape gets the suffix `.v2`; `fromStored` converts the earlier one. */
const STORED_TYPES: ReadonlySet<string> = new Set<AgentEvent['type']>([
  'AgentCreated.v3',
  'AgentCreationAbandoned',
  'AgentStarting.v2',
  'AgentStarted',
  'AgentStartedAnew',
  'AgentResized',
  'AgentFellAsleep',
  'AgentSleepRequested',
  'AgentStopping.v2',
  'AgentStopped',
  'AgentFailed',
  'AgentRanOutOfMemory',
  'AgentUnseen',
  'AgentRanUnseen',
  'AgentVersionPrepared',
  'AgentVersionAdopted',
  'AgentVersionAbandoned',
  'AgentDeletionRequested',
  'AgentDeleted',
]);

const isAgentEvent = (stored: { readonly type: string }): stored is AgentEvent =>
  STORED_TYPES.has(stored.type);

const CREATIONS: ReadonlySet<string> = new Set(['AgentCreated.v3', 'AgentCreated.v2', 'AgentCreated']);

/** Whether the event creates its agent, in any shape that was ever stored. */
export const isCreation = ({ type }: { readonly type: string }): boolean => CREATIONS.has(type);

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
  if (stored.type === 'AgentCreated') return withPersonal(withSource(stored.data));
  if (stored.type === 'AgentCreated.v2') return withPersonal(stored.data);
  // Before there were deployments, every agent had one version.
  if (stored.type === 'AgentStarting')
    return { type: 'AgentStarting.v2', data: { ...stored.data, version: 1 } };
  // Before stops had reasons, every stop for a sleep counted as requested.
  if (stored.type === 'AgentStopping')
    return { type: 'AgentStopping.v2', data: { ...stored.data, reason: 'requested' } };
  return stored;
};

/** Before sources had versions, every agent ran its template. */
const withSource = (data: EventData): EventData => ({
  ...data,
  source: templateSource(String(data['templateId'])),
});

/** Before end users had keys, every agent had its personal data in plaintext. */
const withPersonal = ({
  name = '',
  externalId = null,
  externalUserId = null,
  instructions = null,
  labels = {},
  ...data
}: EventData): StoredEvent => ({
  type: 'AgentCreated.v3',
  data: {
    ...data,
    personal: { endUserId: null, data: { name, externalId, externalUserId, instructions, labels } },
  },
});
