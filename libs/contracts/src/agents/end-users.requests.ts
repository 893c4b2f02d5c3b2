import type { CommandEnvelope } from '@berth/kernel';
import type { AgentView } from './agent.view.js';

export interface ForgetEndUser extends CommandEnvelope {
  readonly endUserId: string;
}

/** `created` is false when the end user had its agent before. */
export interface AgentOfEndUser {
  readonly agent: AgentView;
  readonly created: boolean;
}

export interface CountOfEndUsers {
  readonly accountId: string;
  readonly externalUserIds: readonly string[];
}

/** The number of agents by `externalUserId`; an end user without agents is absent. */
export interface AgentCounts {
  readonly counts: Readonly<Record<string, number>>;
}
