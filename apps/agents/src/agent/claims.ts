import type { Claim } from '../reservation/reservations.js';
import type { Profile } from './agent.js';

/** The names that an agent holds while it exists, in the order in which they are claimed. */
export const claimsOf = ({ accountId, name, externalId }: Profile): readonly Claim[] => {
  const byName: Claim = { kind: 'agentName', accountId, value: name };
  return externalId === null ? [byName] : [byName, { kind: 'agentExternalId', accountId, value: externalId }];
};
