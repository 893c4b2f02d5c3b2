import type { ActivityKind } from '@berth/contracts/agents';
import type { LiveAgent } from './agent.js';

/** Asked before every wake: an end user's policy or suspension may refuse it by throwing a `DomainError`. */
export interface Admission {
  admitWake(agent: LiveAgent, kind: ActivityKind): Promise<void>;
}

/** An account's own agents are under no policy. */
export const ownersAdmission: Admission = { admitWake: () => Promise.resolve() };
