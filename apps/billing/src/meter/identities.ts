import { aboutIdentity } from '@berth/contracts/agents';
import type { RecordedEvent } from '@berth/event-store';
import { EndUserKeys, fromPersonal } from '@berth/personal-data';
import { factOf, type AgentFact, type Identity } from './usage-fact.js';
import type { Identities } from './usage-rows.js';

const REQUESTS_AT_ONCE = 50;

type Creation = Extract<AgentFact, { kind: 'created' }>;

/**
 * The names of the agents that the events create; none for those whose end user is deleted. Errors: unavailable
 * `service_unavailable` if `end-users` does not respond, which has the keys.
 */
export const identitiesIn = async (
  events: readonly RecordedEvent[],
  keys: Pick<EndUserKeys, 'find'>,
): Promise<Identities> => {
  const creations = events.flatMap(creationIn);
  const found = new Map<string, Identity>();
  for (let from = 0; from < creations.length; from += REQUESTS_AT_ONCE)
    await Promise.all(
      creations.slice(from, from + REQUESTS_AT_ONCE).map(async ({ agentId, personal }) => {
        const key = personal.endUserId === null ? null : await keys.find(personal.endUserId);
        const identity = fromPersonal(key, aboutIdentity(agentId), personal);
        if (identity !== null) found.set(agentId, identity);
      }),
    );
  return found;
};

const creationIn = (event: RecordedEvent): readonly Creation[] => {
  const fact = factOf(event);
  return fact?.about === 'agent' && fact.fact.kind === 'created' ? [fact.fact] : [];
};
