import type { AgentRow } from '../agent-list/agent-row.js';
import type { Profile } from './agent.js';

/**
 * Whose agent it is. `endUserId` is null for an agent without an end user, and for one that was stored before end users had
 * keys; no policy applies to these.
 */
export interface Owner {
  readonly accountId: string;
  readonly endUserId: string | null;
}

/** The owner of an agent that has an end user. */
export interface OwnerWithEndUser extends Owner {
  readonly endUserId: string;
}

export const ownerOf = ({ accountId, personal }: Profile): Owner => ({
  accountId,
  endUserId: personal.endUserId,
});

export const ownerOfRow = ({ account_id, end_user_id }: AgentRow): Owner => ({
  accountId: account_id,
  endUserId: end_user_id,
});
