import { endUsersEvents } from '@berth/contracts/end-users';
import type { EventCodec, RecordedEvent } from '@berth/event-store';
import { contractEvent, type ContractEvent } from '@berth/kernel';
import type { EndUserEvent, EndUserPolicySet } from './end-user.js';

const TYPES: ReadonlySet<string> = new Set<EndUserEvent['type']>([
  'EndUserCreated',
  'EndUserUpdated',
  'EndUserSuspended',
  'EndUserResumed',
  'EndUserPolicySet',
  'EndUserPolicyRemoved',
  'EndUserDeleted',
  'EndUserErased',
]);

/** Codec of the streams `endUser-eus_…`. */
export const endUserCodec: EventCodec<EndUserEvent> = {
  category: 'endUser',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (!TYPES.has(type)) throw new Error(`No event of an end user has the type ${type}.`);
    return { type, ...data } as unknown as EndUserEvent;
  },
};

type PlainEvent = 'created' | 'updated' | 'suspended' | 'resumed' | 'deleted' | 'policyRemoved';

/** Returns the public part of an event, without personal data; null when the event is private. */
export const toEndUserContractEvent = (recorded: RecordedEvent): ContractEvent | null => {
  const event = endUserCodec.fromStored(recorded);
  const { endUserId, accountId } = event;
  const publish = (name: PlainEvent, at: string): ContractEvent =>
    contractEvent(endUsersEvents[name], { accountId, subjectId: endUserId }, { accountId, endUserId, at });
  switch (event.type) {
    case 'EndUserPolicySet':
      return policySet(event);
    case 'EndUserPolicyRemoved':
      return publish('policyRemoved', event.at);
    case 'EndUserCreated':
      return publish('created', event.createdAt);
    case 'EndUserUpdated':
      return publish('updated', event.updatedAt);
    case 'EndUserSuspended':
      return publish('suspended', event.at);
    case 'EndUserResumed':
      return publish('resumed', event.at);
    case 'EndUserDeleted':
      return publish('deleted', event.at);
    case 'EndUserErased':
      return null;
  }
};

const policySet = ({ endUserId, accountId, policy, at }: EndUserPolicySet): ContractEvent =>
  contractEvent(
    endUsersEvents.policySet,
    { accountId, subjectId: endUserId },
    { accountId, endUserId, policy, at },
  );
