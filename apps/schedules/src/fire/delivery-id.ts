import { createHash } from 'node:crypto';
import { idOf } from '@berth/kernel';
import type { DueEntry } from '../due-list/due-list.query.js';

/** The id of the delivery of a firing: it derives from the agent, the entry and the time, and from nothing else. */
export const deliveryIdOf = ({ agentId, entryId, dueAt }: Omit<DueEntry, 'accountId'>): string => {
  const digest = createHash('sha256').update(JSON.stringify([agentId, entryId, dueAt]));
  return idOf('dlv', dueAt, digest.digest('hex').slice(0, 32));
};

/** The id of the command that logs these firings: the same at every attempt. */
export const firingIdOf = (deliveryIds: readonly string[]): string =>
  `fire/${createHash('sha256').update(deliveryIds.join()).digest('base64url')}`;
