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

/** Says whether an end user is suspended, as of an event of its stream. */
export interface SetEndUserStanding {
  readonly endUserId: string;
  readonly suspended: boolean;
  /** The position of the event in the log, decimal. An earlier one than the last that was received changes nothing. */
  readonly position: string;
}
