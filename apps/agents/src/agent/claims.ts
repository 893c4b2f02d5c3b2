import type { Claim } from '../reservation/reservations.js';
import type { AgentIdentity, Profile } from './agent.js';

/** What must be unique about an agent that was created for an end user: see `agentOfEndUserClaim`. */
export type Uniqueness = 'agent of its end user' | 'any agent';

/** The names that an agent holds while it exists, in the order in which they are claimed. */
export const claimsOf = (
  { accountId, personal }: Profile,
  { name, externalId }: AgentIdentity,
  uniqueness: Uniqueness,
): readonly Claim[] => [
  ...(uniqueness === 'any agent' || personal.endUserId === null
    ? []
    : [agentOfEndUserClaim(accountId, personal.endUserId)]),
  { kind: 'agentName', accountId, value: name },
  ...(externalId === null ? [] : [{ kind: 'agentExternalId', accountId, value: externalId } as const]),
];

/** Every name that the agent may hold, to be released. */
export const allClaimsOf = (profile: Profile, identity: AgentIdentity): readonly Claim[] =>
  claimsOf(profile, identity, 'agent of its end user');

/** At most one of the agents of an end user is *the* agent of that end user. */
export const agentOfEndUserClaim = (accountId: string, endUserId: string): Claim => ({
  kind: 'agentOfEndUser',
  accountId,
  value: endUserId,
});
