import { fromPersonal, toPersonal, type Personal, type PersonalKey } from '@berth/personal-data';
import type { AgentIdentity } from '../agent/agent.js';

const about = (agentId: string): string => `agent/${agentId}`;

/** `key`: of the end user who owns the agent; null for an agent of no end user. */
export const toPersonalIdentity = (
  key: PersonalKey | null,
  agentId: string,
  identity: AgentIdentity,
): Personal<AgentIdentity> => toPersonal(key, about(agentId), identity);

/** Returns null if the identity is sealed and there is no key. */
export const identityFrom = (
  key: PersonalKey | null | undefined,
  agentId: string,
  personal: Personal<AgentIdentity>,
): AgentIdentity | null => fromPersonal(key, about(agentId), personal);
