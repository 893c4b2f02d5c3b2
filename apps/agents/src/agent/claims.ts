import type { Claim } from '../reservation/reservations.js';
import type { AgentIdentity } from './agent.js';

/** The names that an agent holds while it exists, in the order in which they are claimed. */
export const claimsOf = (accountId: string, { name, externalId }: AgentIdentity): readonly Claim[] => {
  const byName: Claim = { kind: 'agentName', accountId, value: name };
  return externalId === null ? [byName] : [byName, { kind: 'agentExternalId', accountId, value: externalId }];
};
