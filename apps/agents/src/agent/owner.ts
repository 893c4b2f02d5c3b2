import type { Owner } from '@berth/boxes';
import type { AgentRow } from '../agent-list/agent-row.js';
import type { Profile } from './agent.js';

export type { Owner } from '@berth/boxes';

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
