import { aboutIdentity } from '@berth/contracts/agents';
import { fromPersonal, toPersonal, type Personal, type PersonalKey } from '@berth/personal-data';
import type { AgentIdentity } from '../agent/agent.js';

/** Seals the identity with `key`, the key of the agent's end user; null (no end user) leaves it in plaintext. */
export const toPersonalIdentity = (
  key: PersonalKey | null,
  agentId: string,
  identity: AgentIdentity,
): Personal<AgentIdentity> => toPersonal(key, aboutIdentity(agentId), identity);

/** Returns null if the identity is sealed and there is no key. */
export const identityFrom = (
  key: PersonalKey | null | undefined,
  agentId: string,
  personal: Personal<AgentIdentity>,
): AgentIdentity | null => fromPersonal(key, aboutIdentity(agentId), personal);
